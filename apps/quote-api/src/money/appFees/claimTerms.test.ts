// Goal: a claim that was taken can be paid. Adversary: an owner whose claim covers its charge and nothing that the network
// would keep, so that its fees were held for a payout that never ends.
import { SolanaFees } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import { requireKept } from './claimTerms.ts'

const fees = new SolanaFees({
  lamportsPerSignature: 5_000n,
  microLamportsPerUnit: 1n,
  rentLamportsPerByte: 10n,
})
const sol = { isNative: true, symbol: 'SOL', decimals: 9 }
const least = fees.leastPayment({ isAbsent: true })

test.each<[string, bigint, Parameters<typeof requireKept>[1]['lack'], boolean, boolean]>([
  ['the least, to an account that is not there', least, { isAbsent: true }, true, true],
  ['less, to an account that is not there', least - 1n, { isAbsent: true }, true, false],
  ['anything, to an account that is there', 1n, {}, true, true],
  ['a token, which is kept however little', 1n, { isAbsent: true }, false, true],
])('F-144: what is left after the charge: %s', (_what, left, lack, isNative, isTaken) => {
  const take = () =>
    requireKept(fees, { amount: left + 30n, charged: 30n, lack, currency: { ...sol, isNative } })
  if (isTaken) expect(take).not.toThrow()
  else expect(take).toThrow(/keep no payment of less/)
})
