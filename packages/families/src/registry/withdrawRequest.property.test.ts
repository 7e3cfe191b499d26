// Goal: whatever a request of a withdrawal holds, it is refused by name or has one form. Adversary: a depositor whose
// request is spelled so that the payload which the allocator signs means another payment.

import { type VmType, vmTypes } from '@causeway/core/encodings'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accounts, currencies } from '../../../core/test/arbitraries/addresses.ts'
import { outcomeOf } from '../../../core/test/fixtures/hostileBytes.ts'
import { normaliseWithdrawRequest } from './withdrawRequest.ts'

test.each(vmTypes)('2,000 hostile requests of %s are refused by name or spelled twice alike', (vmType) => {
  const spelled = (own: (typeof accounts)[VmType]) =>
    fc.oneof({ weight: 4, arbitrary: own.map(({ text }) => text) }, { weight: 1, arbitrary: fc.string() })
  const number = fc.oneof(
    fc.nat(4),
    fc.string({ maxLength: 4 }),
    fc.constantFrom(-1, 1.5, 2 ** 60, '18446744073709551615'),
  )
  const own = fc.record(
    {
      nonce: number,
      fromRouteType: number,
      toRouteType: number,
      apiKeyIndex: number,
      usdcFee: number,
      assetIndex: number,
      memo: fc.string(),
      currentTime: number,
      currencyHyperliquidSymbol: fc.string(),
      allocatorUtxos: fc.array(fc.record({ txid: fc.string(), vout: number, value: number }), {
        maxLength: 3,
      }),
      feeRate: number,
    },
    { requiredKeys: [] },
  )
  const requests = fc.record({
    depository: spelled(accounts[vmType]),
    recipient: spelled(accounts[vmType]),
    currency: spelled(currencies[vmType]),
    additionalData: fc.dictionary(
      fc.constantFrom<string>(...vmTypes, '__proto__'),
      fc.oneof(own, fc.anything()),
      { noNullPrototype: false },
    ),
  })
  fc.assert(
    fc.property(requests, (request) => {
      const normalised = outcomeOf(() => normaliseWithdrawRequest({ vmType, network: undefined }, request))
      if (normalised !== undefined)
        expect(normaliseWithdrawRequest({ vmType, network: undefined }, request)).toEqual(normalised)
    }),
    { numRuns: 2_000, endOnFailure: true },
  )
})
