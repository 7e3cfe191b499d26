import type { EquivalentsByFile } from '../score.ts'

const unpaidStands = 'what is unpaid stands among the payments'
const savesWork = 'it only saves work'
const onlyWhenOver = 'only who is over gives a question up'
const messageFirst = 'in every kind the message stands before the execution'

/** Changes that alter nothing in apps/oracle. */
export const oracleEquivalents: EquivalentsByFile = {
  'apps/oracle/src/attestations/issuedWithdrawal.ts': [
    ["'pending'", '""', 'a status without a case has no execution either'],
  ],
  'apps/oracle/src/attestations/recovery.ts': [
    ['balance < amount', 'balance <= amount', 'equal ones are one amount'],
    ['entrySeconds > depositSeconds', 'entrySeconds >= depositSeconds', 'equal ones are one time'],
  ],
  'apps/oracle/src/attestations/refunds.ts': [
    ['input === undefined', 'false', 'every input has its deposit, as was seen'],
    ["throw new Error('every input has its deposit')", ';', 'every input has its deposit, as was seen'],
  ],
  'apps/oracle/src/attestations/settlement/execution.ts': [
    ['!(error instanceof InvalidAddressError)', 'false', 'an alias fails by its address alone'],
  ],
  'apps/oracle/src/attestations/settlement/orderInputs.ts': [
    ['bpsDiff < 0n', 'bpsDiff <= 0n', 'no difference is all of it by either way'],
  ],
  'apps/oracle/src/attestations/settlement/payments.ts': [
    [
      'unpaid === undefined || payment === undefined',
      'unpaid === undefined && payment === undefined',
      unpaidStands,
    ],
    ['unpaid === undefined', 'false', unpaidStands],
    ['payment === undefined', 'false', unpaidStands],
    [
      "''",
      '"Stryker was here!"',
      'it is no word for a problem either',
      "function recordProblemText({ recordId, recordProblem = '' }: PaymentFacts, expectedId: Hex): string {",
    ],
    [
      "''",
      '"Stryker was here!"',
      'a contract that is not listed has its name',
      "{ unlistedFillContract: contract = '' }: PaymentFacts,",
    ],
  ],
  'apps/oracle/src/caps/settledOrders.ts': [
    ['oldest !== undefined', 'true', 'more than none are remembered'],
  ],
  'apps/oracle/src/caps/signingGuard.ts': [
    ['execution === undefined', 'false', 'to ask about nothing fails, which is no settlement'],
    [
      '{ // The hub did not answer, so the execution is counted as one that it has not run. return false }',
      '{}',
      'undefined is no settlement either',
    ],
    ['this.#waiting.size === 0', 'false', 'it only saves a hash'],
    ['this.#unwritten.delete(id)', ';', 'what is held anew is stored anew'],
  ],
  'apps/oracle/src/peers/aggregation.ts': [
    [
      'source !== undefined',
      'true',
      'no outsider of the own answer was verified',
      '} else if (source !== undefined)',
    ],
    [
      'source === undefined',
      'false',
      'no outsider of the own answer is compared',
      'const outsiders = source === undefined ? [] : [...declared].filter((signer) => !groups.isAllowed(signer))',
    ],
    [
      '[]',
      '["Stryker was here"]',
      'it is no signer',
      'const outsiders = source === undefined ? [] : [...declared].filter((signer) => !groups.isAllowed(signer))',
    ],
    ['array === undefined', 'false', 'equal payloads have equal arrays'],
    [
      "throw new RangeError('equal payloads have equal signature arrays')",
      ';',
      'equal payloads have equal arrays',
    ],
    ['a.signer < b.signer', 'a.signer <= b.signer', 'each signer is there once'],
    ['local === undefined', 'false', 'a group with the own row has an own answer'],
  ],
  'apps/oracle/src/peers/peerAggregator.ts': [
    [
      '{ isFailed: false }',
      '{}',
      'undefined is no failure either',
      '#local: LocalOutcome = { isFailed: false }',
    ],
    ['this.#asking.release()', ';', 'its timer ends what nobody waits for any more'],
    [
      "answer.kind === 'aborted' || this.#isOver()",
      "answer.kind === 'aborted' && this.#isOver()",
      onlyWhenOver,
    ],
    ["answer.kind === 'aborted'", 'false', onlyWhenOver],
    ["'aborted'", '""', onlyWhenOver],
  ],
  'apps/oracle/src/peers/preparedQuorums.ts': [
    [
      'result.matched >= previous.result.matched',
      'result.matched > previous.result.matched',
      'as many signers are as good',
    ],
  ],
  'apps/oracle/src/peers/readAnswers.ts': [
    ['gap === undefined', 'false', 'no array has that number either'],
    ["''", '"Stryker was here!"', 'it is no JSON either'],
    ['template === undefined', 'true', savesWork],
    ['gaps !== undefined', 'false', savesWork],
    ['cached !== undefined', 'false', savesWork],
    ['this.#known.set(text, recognised)', ';', savesWork],
    ['this.#byPlainText.set(plainText, recognised)', ';', savesWork],
  ],
  'apps/oracle/src/peers/settings.ts': [
    [
      '/^127(?:\\.[0-9]{1,3}){3}$/',
      '/127(?:\\.[0-9]{1,3}){3}$/',
      'no host of a URL has more before such an address',
    ],
    [
      "''",
      '"Stryker was here!"',
      'it is the host of no URL either',
      "function isOwn(url: URL, { host = '', port = 0 }: Listener): boolean {",
    ],
    ["'loopback'", '""', 'it is one name for all of them too'],
  ],
  'apps/oracle/src/peers/signatureGaps.ts': [
    [
      "typeof reached !== 'object'",
      'false',
      'a text or a number has no number as a member',
      "if (typeof reached !== 'object' || reached === null || !Object.hasOwn(reached, name)) return undefined",
    ],
  ],
  'apps/oracle/src/peers/signerGroups.ts': [
    ['!group.rows.has(row.signer)', 'true', 'a later signature is as good'],
    ['localKey === undefined', 'false', 'no group has no key'],
    ['!groups.some(({ payload }) => this.#kind.isHeld(payload))', 'false', savesWork],
    ['!this.#kind.isHeld(winner.payload)', 'false', 'no message has the text of an answer with an execution'],
    ['claims.slice(index, index + 1)', 'claims', messageFirst],
    ['index + 1', 'index - 1', messageFirst],
    ['(index) => domains.slice(index, index + 1)', '() => undefined', messageFirst],
    ['domains.slice(index, index + 1)', 'domains', messageFirst],
    ['a.key < b.key', 'a.key <= b.key', 'no two groups have one key'],
    ['a.key < b.key', 'a.key >= b.key', 'any order is one and the same for all'],
    ["' '", '""', 'all contracts have one length'],
    ['cachedKey !== undefined', 'false', savesWork],
    ['keys.set(joined, key)', ';', savesWork],
  ],
}
