/** The words that texts in plain English avoid. */

/** Each with the words to write instead. */
export const AVOID: readonly (readonly [RegExp, string])[] = [
  [/\b(?:nobody|whoever|somebody|anybody|no one|who has it)\b/i, 'the name of the component'],
  [/\bthose (?:that|who)\b/i, 'the name of the thing'],
  [/\bwhat (?:is|was) left\b/i, 'the rest, by its name'],
  [/\b(?:un)?told\b|\btells?\b|\btelling\b/i, 'report, return, log, notify'],
  [/\b(?:is|are|was|were|been) (?:said|heard|asked)\b/i, 'report, log, request'],
  [/\bfor want of\b/i, 'because … was unavailable'],
  [/\blets? go\b|\blet go of\b|\bletting go\b/i, 'release'],
  [
    /\brung\b|\bringing\b|\b(?:a|the|no|each|its|lost|these|first) rings?\b(?! of keys)/i,
    'notify, wake-up message',
  ],
  [/\brefus(?:e|es|ed|al|ing)\b|\bturn(?:s|ed)? away\b/i, 'reject, shed'],
  [/\bingress\b|\bholders?\b/i, 'web, owner'],
  [/\b(?:goes?|gone) by (?:its|their) time\b|\bends? by (?:itself|themselves)\b/i, 'expire'],
  [/\bpapers?\b/i, 'documentation'],
  [/\bc(?:a|o)mes? to (?:nothing|an end|the|it|that)\b/i, 'results in'],
  [/\b(?:is|are|was|were) come of\b|\bbecame of\b|\bbecomes? of\b/i, 'the result of'],
  [/\bthe way of\b/i, 'the path of, the flow of'],
  [/\bhandful\b/i, 'few, or the number'],
  [/\bget(?:s)? on\b|\bgot on\b/i, 'make progress'],
];

/** Names in capitals are codes of the interface. */
export const isThere = (word: RegExp, sentence: string) =>
  word.test(sentence.replace(/\b[A-Z_]{3,}\b/g, ''));
