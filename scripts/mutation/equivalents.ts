import type { Equivalent } from './score.ts'

type Entry = readonly [original: string, replacement: string, why: string, line?: string]

const sameLength = 'both lists have one length, as was seen'
const allGroups = 'the pattern has all of its groups or none'

const entries: Readonly<Record<string, readonly Entry[]>> = {
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
  'packages/ledger/src/holds/decideHolds.ts': [
    ['policyVersion !== undefined', 'true', 'what a key without a policy used decides nothing'],
  ],
  'packages/ledger/src/policies/checkPolicy.ts': [['[0n]', '[]', 'the largest of none is zero too']],
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
