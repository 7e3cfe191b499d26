// Goal: everybody who may have paid is screened. Adversary: an account so rich that JSON cannot carry its balance.
import { expect, test } from 'vitest'
import { payersIn } from './payerWalk.ts'

test('a payer is who signs, has less afterwards, or has a balance that is not exact before', () => {
  const balance = (account: string, before: bigint | undefined, after: bigint | undefined) => ({
    account,
    before,
    after,
  })
  const balances = [
    balance('poorer', 2n, 1n),
    balance('spent', 2n, 0n),
    balance('richer', 1n, 2n),
    balance('same', 1n, 1n),
    balance('whale', undefined, undefined),
    balance('poorerWhale', undefined, 5n),
    balance('becameWhale', 5n, undefined),
  ]
  const payers = payersIn({ signers: ['signer'], balances, tokenBalances: [] })
  expect(payers).toEqual(['signer', 'poorer', 'spent', 'whale', 'poorerWhale'])
})
