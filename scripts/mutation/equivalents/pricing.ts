import type { EquivalentsByFile } from '../score.ts'

const ownRouter = 'a kind of permit is one whose router is there'

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
}
