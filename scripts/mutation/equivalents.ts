import type { Equivalent } from './score.ts'

type Entry = readonly [original: string, replacement: string, why: string, line?: string]

const sameLength = 'both lists have one length, as was seen'
const wordsCounted = 'the words were counted before'
const unpaidStands = 'what is unpaid stands among the payments'
const noHolding = 'these ways add no holding'
const firstFunction = 'without a name the first function is meant'
const noAccount = 'it is no account'
const sizedAgain = 'the size is counted again, alike'
const preparedAgain = 'it is prepared again, alike'
const oneFunction = 'viem has left one function in the list'
const allGroups = 'the pattern has all of its groups or none'

const savesWork = 'it only saves work'
const onlyWhenOver = 'only who is over gives a question up'
const messageFirst = 'in every kind the message stands before the execution'

const entries: Readonly<Record<string, readonly Entry[]>> = {
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
  'apps/oracle/src/peers/signatureGaps.ts': [
    [
      "typeof reached !== 'object'",
      'false',
      'a text or a number has no number as a member',
      "if (typeof reached !== 'object' || reached === null || !Object.hasOwn(reached, name)) return undefined",
    ],
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
  'apps/oracle/src/peers/readAnswers.ts': [
    ['gap === undefined', 'false', 'no array has that number either'],
    ["''", '"Stryker was here!"', 'it is no JSON either'],
    ['template === undefined', 'true', savesWork],
    ['gaps !== undefined', 'false', savesWork],
    ['cached !== undefined', 'false', savesWork],
    ['this.#known.set(text, recognised)', ';', savesWork],
    ['this.#byPlainText.set(plainText, recognised)', ';', savesWork],
  ],
  'apps/oracle/src/peers/preparedQuorums.ts': [
    [
      'result.matched >= previous.result.matched',
      'result.matched > previous.result.matched',
      'as many signers are as good',
    ],
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
  'apps/oracle/src/caps/settledOrders.ts': [
    ['oldest !== undefined', 'true', 'more than none are remembered'],
  ],
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
  'apps/solver/src/judge/denied.ts': [['[]', '["Stryker was here"]', 'no list denies what is no address']],
  'apps/solver/src/judge/fillState.ts': [
    ['deadlineSeconds !== undefined', 'true', 'no number is above undefined'],
  ],
  'apps/solver/src/judge/judgeRecovery.ts': [
    ['endSeconds !== undefined', 'true', 'no number is above undefined'],
  ],
  'apps/solver/src/judge/judgeRefund.ts': [
    [
      'order.inputs[0]?.payment',
      'order.inputs[0].payment',
      'an order without input names no refund, as was seen',
      'const orderedAmount = BigInt(order.inputs[0]?.payment.amount ?? inTransaction)',
    ],
  ],
  'apps/solver/src/judge/judgeSweep.ts': [
    ['[]', '["Stryker was here"]', 'whether an order is signed does not depend on deposits'],
    ['input?.payment', 'input.payment', 'an order that is not refused has one input'],
  ],
  'apps/solver/src/judge/realisedResult.ts': [
    ['result >= 0n', 'result > 0n', 'nothing is nothing by either way'],
  ],
  'apps/solver/src/judge/signedOrder.ts': [
    ['signer === undefined', 'false', 'undefined is no solver'],
    ['paid !== undefined', 'true', sameLength],
    ['requestedCall !== undefined', 'true', sameLength],
  ],
  'apps/solver/src/judge/verdict.ts': [
    ['[]', '["Stryker was here"]', 'the first is not read'],
    [
      'chainId === undefined || currency === undefined || amount === undefined',
      '(chainId === undefined || currency === undefined) && amount === undefined',
      allGroups,
    ],
    ['chainId === undefined || currency === undefined', 'false', allGroups],
    [
      'chainId === undefined || currency === undefined',
      'chainId === undefined && currency === undefined',
      allGroups,
    ],
    ['chainId === undefined', 'false', allGroups],
    ['currency === undefined', 'false', allGroups],
    ['amount === undefined', 'false', allGroups],
    ['paid <= received', 'paid < received', 'no difference rounds up to none'],
  ],
  'packages/core/src/attestation/actions.ts': [
    ['[]', '["Stryker was here"]', 'it is no type of an action either'],
    [
      "''",
      '"Stryker was here!"',
      'it is no type of an action either',
      "const [type = '', ...members] = words",
    ],
    ['/^0{63}[0-9]$/', '/0{63}[0-9]$/', 'a word has 64 digits'],
    ['/^0{63}[0-9]$/', '/^0{63}[0-9]/', 'a word has 64 digits'],
    ['hubTokenId === undefined || amount === undefined', 'false', wordsCounted],
    [
      'hubTokenId === undefined || amount === undefined',
      'hubTokenId === undefined && amount === undefined',
      wordsCounted,
    ],
    ['hubTokenId === undefined', 'false', wordsCounted],
    ['amount === undefined', 'false', wordsCounted],
  ],
  'packages/core/src/attestation/deterministicIds.ts': [
    ['BigInt(a) < BigInt(b)', 'BigInt(a) <= BigInt(b)', 'equal ids are one text in either order'],
  ],
  'packages/core/src/attestation/movements.ts': [
    ['paidIn > sentOn', 'paidIn >= sentOn', 'their difference is zero too'],
  ],
  'packages/core/src/fees/feeRules.ts': [
    ["word === 'gas' || word === 'relayer'", 'true', 'other words have no totals'],
  ],
  'packages/core/src/fees/fees.ts': [['{ ...zeros }', '{}', 'every name is then set']],
  'packages/core/src/hashing/base58Check.ts': [
    ['(byteLength * 8) / Math.log2(58)', 'byteLength * 8 * Math.log2(58)', 'the bound is on work alone'],
  ],
  'packages/core/src/hashing/canonicalJson.ts': [['a < b', 'a <= b', 'no name occurs twice']],
  'packages/core/src/hashing/keccak.ts': [["'hex'", '""', 'hex is what the library writes by itself']],
  'packages/core/src/hashing/typedData.ts': [
    ['encodedMembers.length === 0', 'false', 'the same hash, computed again'],
  ],
  'packages/core/src/hashing/viemLibrary.ts': [
    [
      'loaded !== undefined',
      'false',
      'Node keeps what it loaded too',
      'if (loaded !== undefined) return loaded',
    ],
  ],
  'packages/core/src/money/format.ts': [
    ['digits.length > fractionDigits', 'false', 'padding leaves a longer text as it is'],
    ['point < 0', 'point <= 0', 'a text does not begin with a point'],
    ['whole < 0n', 'whole <= 0n', 'a whole of zero was answered before'],
    ['part * sign', 'part / sign', 'the sign is 1 or -1'],
    ['whole * sign', 'whole / sign', 'the sign is 1 or -1'],
  ],
  'packages/core/src/money/mulDiv.ts': [
    ['numerator < 0n', 'numerator <= 0n', 'zero has no rest'],
    ['numerator > 0n', 'numerator >= 0n', 'zero has no rest'],
    ['a < b', 'a <= b', 'equal ones are one value'],
    ['a > b', 'a >= b', 'equal ones are one value'],
  ],
  'packages/core/src/money/parseDecimal.ts': [
    ['[]', '["Stryker was here"]', 'the first is not read'],
    [
      "''",
      '"Stryker was here!"',
      'a text has a first part',
      "const [whole = '', fraction] = text.split('.')",
    ],
  ],
  'packages/core/src/order/namedOrders.ts': [["''", '"Stryker was here!"', 'the pattern has its group']],
  'packages/core/src/order/orderId.ts': [
    ["order.version === 'v1'", 'true', 'there is no other version'],
    ["order.version === 'v1'", 'false', 'the same hash, computed again'],
    ["order.version === 'v1'", "order.version !== 'v1'", 'the same hash, computed again'],
    [
      "'v1'",
      '""',
      'the same hash, computed again',
      ".word(order.version === 'v1' ? versionHash : hashText(order.version))",
    ],
  ],
  'packages/families/src/bitcoin/rules/paying/lineTransaction.ts': [
    ["throw new Error('a key has an address')", ';', 'a key has one'],
    ['keyScript === undefined', 'false', 'a key has one'],
    ["throw new Error('a key has a script')", ';', 'a key has one'],
    ['{ lowS: true }', '{}', 'it is what the library does by itself'],
  ],
  'packages/families/src/bitcoin/rules/quoting/bitcoinFees.ts': [
    ['{ return undefined }', '{}', 'it is undefined either way'],
  ],
  'packages/families/src/bitcoin/rules/quoting/bitcoinQuoting.ts': [
    ['[]', '["Stryker was here"]', 'what is unsigned is written without witnesses', 'witness: [],'],
  ],
  'packages/families/src/bitcoin/rules/quoting/fundTransaction.ts': [
    ['one.value > other.value', 'one.value >= other.value', 'they differ, as was seen'],
    ['one.txid < other.txid', 'one.txid <= other.txid', 'they differ, as was seen'],
  ],
  'packages/families/src/bitcoin/rules/quoting/ownerKey.ts': [
    ['error instanceof Error', 'true', 'the library throws nothing else'],
  ],
  'packages/families/src/ethereum/rules/abi.ts': [
    ["'approve'", '""', firstFunction],
    ["'depositNative'", '""', firstFunction],
    ["'deposit'", '""', firstFunction],
  ],
  'packages/families/src/ethereum/rules/abiWordTypes.ts': [
    ["''", '"Stryker was here!"', allGroups],
    ['/^(uint|int|bytes)(\\d+)$/', '/(uint|int|bytes)(\\d+)$/', 'no other type of Solidity ends so'],
    ['[]', '["Stryker was here"]', allGroups],
    ["'0'", '""', 'padding writes the zero', "return (value ? '1' : '0').padStart(wordDigits, '0')"],
  ],
  'packages/families/src/ethereum/rules/contractInterface.ts': [
    ['cached !== undefined', 'false', preparedAgain],
    ['prepared.set(name, preparedFunction)', ';', preparedAgain],
    ["abiFunction?.type !== 'function'", 'false', oneFunction],
    ['abiFunction?.type', 'abiFunction.type', oneFunction],
    ['{ taken: undefined, returned: undefined }', '{}', oneFunction],
  ],
  'packages/families/src/ethereum/rules/permit2.ts': [["'permit2TransferAndMulticall'", '""', firstFunction]],
  'packages/families/src/ethereum/rules/topUps/classifyTopUps.ts': [
    [
      'judgement === undefined',
      'false',
      'each log has a judgement',
      'if (judgement === undefined || !movesMoney(log, target)) return []',
    ],
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      '{ custody, isTaggedOnly = false, ownAccounts = [] }: TopUpTarget,',
    ],
    [
      'judgement !== undefined',
      'true',
      'the labelled log has a judgement',
      "index === labelledIndex && judgement !== undefined ? judgement : suspendedJudgement('indirect'),",
    ],
  ],
  'packages/families/src/ethereum/rules/topUps/owner.ts': [['[]', '["Stryker was here"]', noAccount]],
  'packages/families/src/ethereum/rules/topUps/tail.ts': [
    ["'named'", '""', 'the two other kinds are told apart'],
  ],
  'packages/families/src/ethereum/rules/topUps/tokenCall.ts': [
    ["'transfer'", '""', 'the other kind is told apart'],
  ],
  'packages/families/src/ethereum/rules/topUps/transferLogs.ts': [
    ['from === undefined', 'false', 'there are three topics, as was seen'],
  ],
  'packages/families/src/ethereum/rules/withdrawalTransfer.ts': [
    ['[]', '["Stryker was here"]', allGroups],
    [
      'recipient === undefined || amount === undefined',
      'recipient === undefined && amount === undefined',
      allGroups,
    ],
    ['recipient === undefined', 'false', allGroups],
    ['amount === undefined', 'false', allGroups],
  ],
  'packages/families/src/ethereum/rules/quoting/ethereumFees.ts': [
    ['a === b', 'false', 'the shapes are then compared one by one'],
  ],
  'packages/families/src/ethereum/rules/quoting/neededApproval.ts': [
    ['allowance !== undefined', 'true', 'undefined is above no number'],
  ],
  'packages/families/src/ethereum/rules/quoting/stateWrites.ts': [
    ["'unwrap'", '""', noHolding, "case 'unwrap':"],
    ["'pay-address'", '""', noHolding, "case 'pay-address':"],
    ["'signature'", '""', noHolding, "case 'signature':"],
    ["'permit2'", '""', noHolding, "case 'permit2':"],
    ["case 'permit2': break", "case 'permit2':", noHolding],
  ],
  'packages/families/src/ethereum/rules/quoting/swapCalls.ts': [
    [
      "'exactInput'",
      '""',
      firstFunction,
      "return pathRouter.encode('exactInput', [{ path, amountIn, amountOutMinimum: amountOut, ...shared }])",
    ],
    ["'exactInputSingle'", '""', firstFunction],
    ["'swapAndDeposit'", '""', firstFunction],
  ],
  'packages/families/src/rules/flatFees.ts': [['{ return undefined }', '{}', 'it is undefined either way']],
  'packages/families/src/rules/payeeRule.ts': [
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      '...[listed.depository, ...(listed.additionalDepositories ?? [])].map(',
    ],
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      "...(listed.fillContracts ?? []).map((contract) => [contract, 'a fill contract'] as const),",
    ],
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      "...(uniswapV3?.pools ?? []).map(({ address }) => [address, 'a pool'] as const),",
    ],
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      "...(listed.fillPayers ?? []).map((payer) => [payer, 'a wallet that pays orders'] as const),",
    ],
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      "account === undefined || account === '' ? [] : [[account, label] as const],",
    ],
    ['account === undefined', 'false', 'what has no spelling is left out later'],
  ],
  'packages/families/src/rules/withdrawRequestParts.ts': [
    ['parsed.error.issues[0]?.path', 'parsed.error.issues[0].path', 'a refusal has an issue'],
    ["''", '"Stryker was here!"', 'a refusal has an issue'],
  ],
  'packages/families/src/solana/rules/library.ts': [
    ['loaded !== undefined', 'false', 'Node keeps what it loaded too'],
  ],
  'packages/families/src/solana/rules/paying/paymentMarker.ts': [
    ['default: return undefined', 'default:', 'nothing is returned either way'],
  ],
  'packages/families/src/solana/rules/quoting/transactionSize.ts': [
    ['cached !== undefined', 'false', sizedAgain],
    ['knownBytes.size >= knownBytesMax', 'true', sizedAgain],
    ['knownBytes.size >= knownBytesMax', 'false', sizedAgain],
    ['knownBytes.size >= knownBytesMax', 'knownBytes.size > knownBytesMax', sizedAgain],
    ['knownBytes.size >= knownBytesMax', 'knownBytes.size < knownBytesMax', sizedAgain],
    ['knownBytes.clear()', ';', sizedAgain],
    ['knownBytes.set(form, bytes)', ';', sizedAgain],
  ],
  'packages/families/src/solana/rules/withdrawal.ts': [
    ['tag === undefined', 'false', 'so few bytes have no length of a request'],
  ],
  'packages/families/src/tron/rules/paying/fillCalls.ts': [
    ["'pay'", '""', firstFunction],
    ["'approve'", '""', firstFunction],
  ],
  'packages/ledger/src/holds/decideHolds.ts': [
    ['policyVersion !== undefined', 'true', 'what a key without a policy used decides nothing'],
  ],
  'packages/ledger/src/policies/checkPolicy.ts': [['[0n]', '[]', 'the largest of none is zero too']],
  'packages/market/src/prices/http/adapter.ts': [
    [
      "''",
      '"Stryker was here!"',
      'the pattern has its group',
      "const [, whole = '', fraction = '', exponent = '0'] = match",
    ],
    ["'0'", '""', 'an empty text is the number zero too'],
    ['shift >= 0', 'shift > 0', 'neither way changes a value by no digit'],
  ],
  'packages/market/src/prices/http/hermes.ts': [
    [
      'newestPrice.publishTime < price.publishTime',
      'newestPrice.publishTime <= price.publishTime',
      'guardians sign one price of a feed at one time',
    ],
  ],
  'packages/market/src/prices/http/readJson.ts': [["'GET'", '""', 'a request without a method is a GET']],
  'packages/market/src/prices/signed/priceUpdate.ts': [
    [
      'Buffer.compare(hash, sibling) <= 0',
      'Buffer.compare(hash, sibling) < 0',
      'equal hashes are one text in either order',
    ],
  ],
  'packages/market/src/prices/signed/wormholeMessage.ts': [
    ['recoveryId <= 1', 'true', 'no other byte gives 27 or 28 with 27 added'],
  ],
  'packages/signer/src/recoverSigner.ts': [
    [
      'bytes === undefined',
      'false',
      'the recovery id is then undefined',
      'if (bytes === undefined || (recoveryId !== 0 && recoveryId !== 1)) return undefined',
    ],
    ['error instanceof Error', 'true', 'the library throws nothing else'],
    [
      '{ // Any error here means that no key made it: lengths, the only other failures, were checked before. if (error instanceof Error) return undefined throw error }',
      '{}',
      'the library throws nothing else',
    ],
  ],
  'packages/signer/src/caps/signingCaps.ts': [
    [
      'amount > (largest.get(hubTokenId) ?? 0n)',
      'amount >= (largest.get(hubTokenId) ?? 0n)',
      'an equal amount takes its own place',
    ],
    ['oldest !== undefined', 'true', 'more than none are remembered'],
  ],
}

/** Survivors that change nothing. One that no longer stands in its file, or that a test notices, fails the run. */
export const equivalents: readonly Equivalent[] = Object.entries(entries).flatMap(([file, ofFile]) =>
  ofFile.map(([original, replacement, why, line]) => ({
    file,
    original,
    replacement,
    why,
    ...(line !== undefined && { line }),
  })),
)
