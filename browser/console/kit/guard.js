/** Shows an error of the screen inside it, so that the rest of the page still works. */
import { Component, h } from 'preact';
import { say } from './speech.js';

/** @typedef {import('./speech.js').Words} Words */
/** @typedef {{ words: Words, again: Words, children?: import('preact').ComponentChildren }} Props */

/** @extends {Component<Props, { error?: unknown }>} */
export class Guard extends Component {
  /**
   * @override
   * @type {{ error?: unknown }}
   */
  state = {};

  /**
   * @override
   * @param {unknown} error
   */
  componentDidCatch(error) {
    this.setState({ error });
  }

  /** @override */
  render() {
    const { error } = this.state;
    const { words, again, children } = this.props;
    if (error === undefined) return children;
    return h(
      'div',
      { class: 'failure', role: 'alert' },
      h('p', {}, h('strong', {}, say(words))),
      h('p', { class: 'quiet' }, String(error)),
      h(
        'button',
        { type: 'button', onClick: () => this.setState({ error: undefined }) },
        say(again),
      ),
    );
  }
}
