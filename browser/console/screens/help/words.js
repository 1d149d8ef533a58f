/** The help for users of the console, in both languages. @typedef {import('../../kit/speech.js').Words} Words */

/** @param {string} english @param {string} chinese @returns {Words} */
const w = (english, chinese) => [english, chinese];

/** @typedef {{ readonly question: Words, readonly answer: readonly Words[], readonly steps?: readonly Words[] }} Topic */

/** @type {readonly Topic[]} */
export const TOPICS = [
  {
    question: w('What does this console show?', '控制台显示什么？'),
    answer: [
      w(
        'Your system sends matters, such as to-dos and notices, to the portal. Each of these requests is a push. The console shows the result of every push.',
        '您的系统把待办、通知等事项发送到门户，每次发送称为一次推送。控制台显示每次推送的结果。',
      ),
      w(
        'You see the pushes and matters of your own system only. All times are in the time zone of the portal.',
        '您只能看到本系统的推送和事项。所有时间均为门户所在时区的时间。',
      ),
    ],
  },
  {
    question: w('How do I resolve failures?', '如何处理失败的推送？'),
    answer: [],
    steps: [
      w(
        'Open “Failures”. Failures with the same cause are in one group, with the action that resolves them.',
        '打开“失败”页面。原因相同的失败归为一组，并给出处理办法。',
      ),
      w('Open a group, and select its matters.', '打开一个分组，选择其中的事项。'),
      w(
        'Correct the value if the data is wrong, and check the preview. Nothing is sent before you confirm.',
        '如数据有误，请修正字段，并查看预览。确认之前不会发送任何数据。',
      ),
      w('Resend. A resolved failure leaves the list.', '重发。已解决的失败会从列表中消失。'),
    ],
  },
  {
    question: w('What do the results mean?', '各种结果是什么意思？'),
    answer: [
      w(
        '“Created” and “Updated”: the matter is saved in the portal.',
        '“已创建”“已更新”：事项已保存到门户。',
      ),
      w(
        '“Outdated, ignored”: the portal already has a newer version of the matter. Nothing is lost.',
        '“过期，已忽略”：门户已有该事项更新的版本，没有数据丢失。',
      ),
      w(
        '“Repeated”: the same push arrived before. Your system got the first result again.',
        '“重复请求”：同一推送此前已收到，您的系统再次得到首次的结果。',
      ),
      w(
        '“Not confirmed in time”: the service gave no confirmation in time. Resend the push with this console: if the push took effect after all, the service does not apply it again.',
        '“未及时确认”：服务未能及时确认。请在此重发；如该推送实际已生效，则不会再次发送。',
      ),
    ],
  },
  {
    question: w('Why can I not resend?', '为什么不能重发？'),
    answer: [
      w(
        'A key that is marked “Read-only” cannot send. Request a sign-in link with push access from the operators of the portal.',
        '标有“只读”的密钥不能发送。请向门户运维人员索取可推送的登录链接。',
      ),
      w(
        'While an operator has paused your client, the service accepts no push of it. A notice at the top of each screen shows the pause.',
        'Client 被运维人员暂停期间，服务不接受其推送。每个页面顶部会显示暂停提示。',
      ),
    ],
  },
  {
    question: w('Is my data safe during an outage?', '服务中断时数据安全吗？'),
    answer: [
      w(
        'Yes. Everything that the service confirmed is saved. Your system sends the other pushes again.',
        '安全。已确认的数据都已保存，其余推送由您的系统重新发送。',
      ),
      w(
        'The console retries automatically. You need not reload the page.',
        '控制台会自动重试，无需刷新页面。',
      ),
    ],
  },
  {
    question: w('How do I find a push or a matter?', '如何查找推送或事项？'),
    answer: [
      w(
        'The search at the top finds pushes by the exact external ID, request ID or idempotency key. It also finds matters by the start of their external ID.',
        '顶部搜索框按完整的 externalId、requestId 或幂等键查找推送，也按 externalId 前缀查找事项。',
      ),
      w(
        '“Matters” finds matters by words of the title, the name of a person, the start of the external ID, a type or a status.',
        '“事项”页面按标题、姓名、externalId 前缀、类型或状态查找事项。',
      ),
    ],
  },
];
