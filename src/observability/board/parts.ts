/** What Bull Board consists of, as it hands it to the server that shall show it. */
import type {
  AppControllerRoute,
  AppViewRoute,
  BullBoardQueues,
  ControllerHandlerReturnType,
  IServerAdapter,
  UIConfig,
} from '@bull-board/api/typings/app';

export interface BoardParts {
  readonly queues: BullBoardQueues;
  /** Folder of the page's template. */
  readonly viewsPath: string;
  /** Folder of scripts, styles, images and texts, and the path they are asked for at. */
  readonly staticPath: string;
  readonly staticRoute: string;
  readonly entry: AppViewRoute;
  readonly apiRoutes: readonly AppControllerRoute[];
  readonly uiConfig: UIConfig;
  readonly errorHandler: (error: Error) => ControllerHandlerReturnType;
}

/** @param build hands all parts to the adapter that it is given, before it returns */
export function collectParts(build: (adapter: IServerAdapter) => unknown): BoardParts {
  const parts: Partial<BoardParts> = {};
  const keep = (more: Partial<BoardParts>): IServerAdapter => {
    Object.assign(parts, more);
    return adapter;
  };
  const adapter: IServerAdapter = {
    setQueues: (queues) => keep({ queues }),
    setViewsPath: (viewsPath) => keep({ viewsPath }),
    setStaticPath: (staticRoute, staticPath) => keep({ staticRoute, staticPath }),
    setEntryRoute: (entry) => keep({ entry }),
    setErrorHandler: (errorHandler) => keep({ errorHandler }),
    setApiRoutes: (apiRoutes) => keep({ apiRoutes }),
    setUIConfig: (uiConfig) => keep({ uiConfig }),
  };
  build(adapter);
  return parts as BoardParts;
}
