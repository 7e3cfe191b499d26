// Goal: a user whom his token lists signs no approval for a deposit that fails, and nobody else is kept from a quote.
// Attacker: one endpoint of three that says that somebody is listed. Method: a real node and token behind three proxies.
import type { Hex } from '@causeway/core'
import { readHead } from '@causeway/families'
import type { FaultMode, SeenCall } from '@causeway/localnet'
import { refuseWhere } from '@causeway/localnet/wallets'
import { createJsonRpcClient } from '@causeway/rpc'
import { decodeAbiParameters, encodeAbiParameters, isHex, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ethereumQuotingChain } from '../../packages/families/src/ethereum/quoting/ethereumQuotingChain.ts'
import { type ChainBed, proxiesOf, startChainBed } from './ethereumSupport/chainBed.ts'

let bed: ChainBed
let token: Hex
let plain: string
let first: Hex
let second: Hex
const poor: Hex = `0x${'b3'.repeat(20)}`

beforeAll(async () => {
  bed = await startChainBed()
  token = bed.deployment.tokens.USDC
  plain = String(await bed.node('eth_getCode', [token, 'latest']))
  const [one, other] = bed.network.keys.users
  if (one === undefined || other === undefined) throw new Error('nobody has tokens')
  first = one.address
  second = other.address
})
afterAll(() => bed?.stop())

/** Pushes whether the first argument is an account. */
const isFrom = (account: Hex) => `73${account.slice(2).toLowerCase()}60043514`
const isAnybody = `73${'00'.repeat(20)}5060015b`

/** Refuses `transferFrom` where `listed` is true, and hands everything else on to the token that it was. */
async function place(listed: string): Promise<void> {
  await bed.node('anvil_setCode', [token, plain])
  await refuseWhere(bed.network.chains.base.chain, token, `0x${listed}3660641416`)
  await bed.node('anvil_mine', ['0x1'])
}

async function locks(lie?: FaultMode): Promise<readonly unknown[]> {
  const proxies = await proxiesOf(bed, 3)
  const endpoints = proxies.map(({ url }) => ({ url }))
  const client = createJsonRpcClient({ chainId: 'base', endpoints })
  onTestFinished(() => client.close())
  const head = await readHead(client)
  if (lie !== undefined) await proxies[0]?.set(lie)
  const quoting = ethereumQuotingChain.open({
    client,
    multicall3: bed.deployment.multicall3,
    currentHead: () => head,
    now: Date.now,
    budgetMs: 5_000,
    neededWithinMs: 5_000,
    onFailure: () => {},
  })
  const facts = [first, second, poor].map((user) =>
    quoting.userFacts({ user, currency: token, spender: bed.deployment.depository }),
  )
  return (await Promise.all(facts)).map(({ inputLock }) => inputLock?.why)
}

const locked = 'holds a token that lets him pay nothing'
const aggregate = parseAbiParameters('(bool success, bytes returnData)[]')
const moved = `0x${'1'.padStart(64, '0')}`
/** Says of the first move in each call that it failed. */
function refusingTheFirst(_call: SeenCall, result: unknown): unknown {
  if (!isHex(result) || result.length < 200) return result
  const [members] = decodeAbiParameters(aggregate, result)
  const at = members.findIndex(({ returnData }) => returnData === moved)
  return encodeAbiParameters(aggregate, [
    members.map((member, index) => (index === at ? { success: false, returnData: '0x' as const } : member)),
  ])
}

test('F-99: nobody is refused while the token moves, whatever one endpoint says', async () => {
  expect(await locks()).toEqual([undefined, undefined, undefined])
  expect(await locks({ kind: 'lie', rewrite: refusingTheFirst })).toEqual([undefined, undefined, undefined])
})

test('F-99: a holder whom the token lists is told, and no other', async () => {
  await place(isFrom(first))
  expect(await locks()).toEqual([locked, undefined, undefined])
})

test('F-99: who has nothing, and a token that moves nothing this way of anybody, is no refusal', async () => {
  await place(isFrom(poor))
  expect(await locks()).toEqual([undefined, undefined, undefined])
  await place(isAnybody)
  expect(await locks()).toEqual([undefined, undefined, undefined])
})
