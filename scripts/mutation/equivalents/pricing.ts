import type { EquivalentsByFile } from '../score.ts'

const ownRouter = 'a kind of permit is one whose router is there'

const noReason = 'without a case of its own there is no reason either'
const memoryAlone = 'what was released is released no more: only memory is freed'

/** Changes that alter nothing in the rules of prices. */
export const pricingEquivalents: EquivalentsByFile = {
  'apps/quote-api/src/pricing/execution/executionMode.ts': [
    [
      "planLegs(route, 'fallbacks').every(({ destination }) => destination?.kind === 'pool')",
      "planLegs(route, 'fallbacks').some(({ destination }) => destination?.kind === 'pool')",
      'all plans of a route end with a pool, or none does',
    ],
  ],
  'apps/quote-api/src/pricing/execution/routePayees.ts': [
    ["'topup'", '""', 'the output, to the same account, is refused first'],
    [
      "'user'",
      '""',
      'without another answer it is the user',
      "if (typeof judged.refusal === 'object') return 'user'",
    ],
    [
      "'user'",
      '""',
      'without another answer it is the user',
      "return hasDestinationCode && !hasOriginCode ? 'user' : 'candidate'",
    ],
  ],
  'apps/quote-api/src/pricing/legs/legs.ts': [
    ['[]', '["Stryker was here"]', 'a pool without tokens is none of a pair'],
  ],
  'apps/quote-api/src/pricing/legs/planLegs.ts': [
    [
      "plans.every(({ origin }) => origin?.kind === 'pool')",
      "plans.some(({ origin }) => origin?.kind === 'pool')",
      'all plans of a route begin with a pool, or none does',
    ],
    [
      "'fallbacks'",
      '""',
      'every scope but the configured one has fallbacks',
      "? planSelfExecutedLegs(route, 'fallbacks').map((origin) => ({ origin, destination: undefined }))",
    ],
    ['error instanceof QuoteError', 'true', 'plans throw nothing else'],
  ],
  'apps/quote-api/src/pricing/legs/slippage.ts': [
    [
      'classOrder.indexOf(a) > classOrder.indexOf(b)',
      'classOrder.indexOf(a) >= classOrder.indexOf(b)',
      'equal ones are one class',
    ],
  ],
  'apps/quote-api/src/pricing/routes/mayBePaid.ts': [
    ['{ ...unasked, refusal: undefined }', '{}', 'each member is undefined either way'],
  ],
  'apps/quote-api/src/pricing/routes/permit.ts': [
    ['permit2Router !== undefined', 'true', ownRouter],
    ['permitRouter === undefined', 'false', ownRouter],
  ],
  'apps/quote-api/src/pricing/solverRoute/acceptedAmount.ts': [
    [
      '!(error instanceof QuoteError)',
      'false',
      'no other error has one of these codes',
      'if (!(error instanceof QuoteError)) throw error',
    ],
    ["'other'", '""', 'no amount is priced after it', "if (clock.now() > endMs) return 'other'"],
    ['nearAmount !== undefined', 'true', 'undefined is above nothing'],
  ],
  'apps/quote-api/src/pricing/solverRoute/payable.ts': [
    ['available > 0n', 'true', 'a guess of nothing or less is left out'],
    ['available > 0n', 'available >= 0n', 'nothing is worth nothing'],
  ],
  'apps/quote-api/src/pricing/solverRoute/planAmounts.ts': [
    ['from.asset !== to.asset', 'true', 'the price of one asset cancels out'],
  ],
  'apps/quote-api/src/pricing/fees/skew.ts': [
    ['cost < 0n', 'cost <= 0n', 'of no cost there is no reward, whatever its limit'],
  ],
  'apps/quote-api/src/pricing/fees/solve.ts': [
    ['high > amountMax', 'high >= amountMax', 'what was doubled is even, and the bound is odd'],
    ['upperBound - 1n', 'upperBound + 1n', 'the bound itself is tried next, and reaches the target'],
    ['candidate >= 0n', 'true', 'an input below zero leaves less than zero'],
    [
      'candidate >= upperBound - window',
      'candidate > upperBound - window',
      'over a whole window the growth exceeds what roundings give back',
    ],
  ],
  'apps/quote-api/src/pricing/sponsorship/sponsorshipOutcome.ts': [
    ["'reserved'", '""', noReason],
    ["'already_reserved'", '""', noReason],
    ["'at_deposit'", '""', noReason],
  ],
  'apps/quote-api/src/pricing/openQuotes/openQuotes.ts': [
    [
      'worth === undefined',
      'true',
      'a second entry of the same second adds up to the same',
      'if (worth === undefined) {',
    ],
    ['endedCount === 0', 'false', 'to remove none changes nothing'],
    ['limit > totalUsdX18', 'limit >= totalUsdX18', 'either way nothing is left'],
  ],
  'apps/quote-api/src/pricing/openQuotes/rewardedMoves.ts': [
    [
      'this.#openByEndSeconds.get(open.endsAtSeconds)?.has(open) === true',
      'true',
      'a move that has ended is released no more, whatever names it',
    ],
    ['withSameEnd.size === 0', 'false', memoryAlone],
    ['this.#openByEndSeconds.delete(open.endsAtSeconds)', ';', memoryAlone],
    ['open.requestId !== undefined', 'true', memoryAlone],
    ['open.requestId !== undefined', 'false', memoryAlone],
    ['open.requestId !== undefined', 'open.requestId === undefined', memoryAlone],
    ['this.#named.delete(open.requestId)', ';', memoryAlone],
  ],
  'apps/quote-api/src/pricing/openQuotes/rewardLimit.ts': [
    [
      'weightedUsd === usdX18 && receivedAsset === received.asset && paidAsset === paid.asset',
      'false',
      'the cost was computed over the same inventories',
    ],
    ['moves.size === 0', 'false', 'no move changes no sum'],
  ],
  'apps/quote-api/src/pricing/openQuotes/rewardBudget.ts': [
    ['free > 0n', 'free >= 0n', 'a part of nothing is nothing'],
    ['claimedLimit > held', 'claimedLimit >= held', 'of two equal figures either is the larger'],
  ],
  'apps/quote-api/src/pricing/openQuotes/openRewards.ts': [
    ['false', 'true', 'before the first claim there is nothing to promise', 'let isBoundKnown = false'],
  ],
}
