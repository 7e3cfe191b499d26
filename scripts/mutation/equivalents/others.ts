import type { EquivalentsByFile } from '../score.ts'

const sameLength = 'both lists have one length, as was seen'
const wordsCounted = 'the words were counted before'
const allGroups = 'the pattern has all of its groups or none'

/** Changes that alter nothing in the other parts. */
export const othersEquivalents: EquivalentsByFile = {
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
  'packages/signer/src/caps/signingCaps.ts': [
    [
      'amount > (largest.get(hubTokenId) ?? 0n)',
      'amount >= (largest.get(hubTokenId) ?? 0n)',
      'an equal amount takes its own place',
    ],
    ['oldest !== undefined', 'true', 'more than none are remembered'],
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
}
