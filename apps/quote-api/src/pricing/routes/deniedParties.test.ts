// Goal: every account of a request is compared, spelled as its own chain spells it, and a refusal tells one member alone.
// Method: a request that names an account in every member, and lists of one account.
import { parseDenyList } from '@causeway/chains'
import { expect, test } from 'vitest'
import { chainA, chainB } from '../../../test/fixtures/market.ts'
import { quoteRequest, refusalOf } from '../../../test/fixtures/quoteRequest.ts'
import { account, registryWithRentChain, rentChain } from '../../../test/fixtures/rentFamily.ts'
import { partiesOf, refuseDeniedRequest } from './deniedParties.ts'

const numbered = (digit: number) => `0x${String(digit).repeat(40)}` as const
const registry = registryWithRentChain()
const chain = (chainId: number) => registry.chainById.get(chainId)
const listOf = (...denied: readonly string[]) =>
  parseDenyList(JSON.stringify({ version: 1, denied: { 'ethereum-vm': denied }, perKey: {} }))

const request = {
  ...quoteRequest({
    user: numbered(1),
    recipient: account,
    destinationChainId: rentChain,
    refundTo: numbered(3),
  }),
  depositFeePayer: numbered(4),
  appFees: [5, 6].map((digit) => ({ recipient: numbered(digit), bps: 1n })),
  txs: [7, 8].map((digit) => ({ to: numbered(digit), value: 0n, data: '0x' as const })),
}

test('a party of a request is whom a member names, on the chain that pays him', () => {
  const [origin, destination] = [chain(chainA)?.codec, chain(rentChain)?.codec]
  expect(partiesOf(registry, request)).toEqual([
    { field: 'user', address: numbered(1), codec: origin },
    { field: 'recipient', address: account, codec: destination },
    { field: 'refundTo', address: numbered(3), codec: origin },
    { field: 'depositFeePayer', address: numbered(4), codec: origin },
    { field: 'appFees.0.recipient', address: numbered(5), codec: origin },
    { field: 'appFees.1.recipient', address: numbered(6), codec: origin },
    { field: 'txs.0.to', address: numbered(7), codec: destination },
    { field: 'txs.1.to', address: numbered(8), codec: destination },
  ])
})

test('a user who names nobody is the recipient too, and chains that have left keep spellings as they are', () => {
  const plain = quoteRequest({
    user: numbered(1),
    recipient: undefined,
    originChainId: 1,
    destinationChainId: 2,
  })
  const parties = partiesOf(registry, plain)
  expect(parties.map(({ field, address }) => [field, address])).toEqual([
    ['user', numbered(1)],
    ['user', numbered(1)],
  ])
  for (const { codec } of parties) expect(codec.spellAddress('As It Is')).toBe('As It Is')
})

test('O-174: the first denied member is refused, and nothing else is told', () => {
  const asked = { ...request, destinationChainId: chainB, recipient: numbered(2) }
  const refused = (...denied: readonly string[]) =>
    refusalOf(() => refuseDeniedRequest({ denyList: listOf(...denied), registry }, asked, undefined))
  expect(refused(numbered(6), numbered(8))).toBe(
    'SANCTIONED_WALLET_ADDRESS {"field":"appFees.1.recipient"} appFees.1.recipient names an account that is not served.',
  )
  expect(refused(numbered(9))).toBeUndefined()
  expect(refusalOf(() => refuseDeniedRequest({ registry }, asked, undefined))).toBeUndefined()
})
