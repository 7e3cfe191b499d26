// True events, derived from receipts and storage alone, without any of the services' code.

import type { Hex } from '@causeway/core'
import { decodeEvmWithdrawal, evmWithdrawalId } from '@causeway/families/rules'
import type { Receipt } from './chain/chain.ts'
import { depositoryCalls, tokenCalls } from './contracts/calls.ts'
import { strangerCalls } from './contracts/strangers.ts'
import { type Currency, coinAddress, type UserChainId, userChainIds } from './network.ts'
import type { KnownWithdrawal, World } from './world.ts'

export type Flow = { readonly token: Hex; readonly from: Hex; readonly to: Hex; readonly amount: bigint }

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const authorizationTopic = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const hubTransferTopic = '0x1b3d7edb2e9c0b0e7c525b20aaaef0f5940d2ed71663c7d39266ecafac728859'
const addressIn = (word: Hex | undefined): Hex => `0x${(word ?? '').slice(-40)}`

/** Transfers of the network's tokens, whose events are known to be true. */
export function flowsOf(world: World, chain: UserChainId, { logs }: Receipt): readonly Flow[] {
  const tokens: readonly string[] = Object.values(world.network.places[chain].tokens)
  return logs.flatMap(({ address, topics: [topic, from, to], data }) => {
    const token: Hex = `0x${address.slice(2).toLowerCase()}`
    if (topic !== transferTopic || !tokens.includes(token)) return []
    return [{ token, from: addressIn(from), to: addressIn(to), amount: BigInt(data) }]
  })
}

/** Coin that moved, by the trace of the transaction. */
async function coinFlows(world: World, chain: UserChainId, id: Hex): Promise<readonly Flow[]> {
  const params = [id, { tracer: 'callTracer' }]
  const answer = await world.network.chains[chain].ask({ method: 'debug_traceTransaction', params })
  return answer.ok ? flowsOfCall(answer.result) : []
}

function flowsOfCall(call: unknown): readonly Flow[] {
  if (typeof call !== 'object' || call === null || 'error' in call) return []
  const { from, to, value, calls } = { from: '', to: '', value: '0x0', calls: [], ...call }
  const own = { token: coinAddress, from: lower(from), to: lower(to), amount: BigInt(value) }
  return [...(own.amount > 0n ? [own] : []), ...calls.flatMap(flowsOfCall)]
}

const lower = (address: string): Hex => `0x${address.slice(2).toLowerCase()}`

/**
 * Payments of the solver's side to a recipient in a transaction, gross: of its sender, the fill wallet and the fill
 * contract; nothing of what somebody else's signature moved. Nobody is paid in a depository, which holds what is owed.
 */
async function grossBySide(
  world: World,
  chain: UserChainId,
  receipt: Receipt,
  paid: { readonly recipient: Hex; readonly token: Hex },
): Promise<bigint> {
  const { fillContract, depository } = world.network.places[chain]
  if (paid.recipient === depository || paid.recipient === fillContract) return 0n
  const authorizers = receipt.logs.flatMap(({ topics: [topic, account] }) =>
    topic === authorizationTopic ? [addressIn(account)] : [],
  )
  // The fill contract takes what it pays from its caller: it holds nothing of its own.
  const side = [receipt.from, world.network.keys.fillWallet.address, fillContract]
  const isSide = (account: Hex) =>
    side.includes(account) && (account === receipt.from || !authorizers.includes(account))
  const isCoin = paid.token === coinAddress
  const flows = isCoin ? await coinFlows(world, chain, receipt.id) : flowsOf(world, chain, receipt)
  return flows.reduce((sum, { token, from, to, amount }) => {
    const counts = token === paid.token && from !== to && to === paid.recipient && isSide(from)
    return counts ? sum + amount : sum
  }, 0n)
}

/** All that an account owns after a block, each unit worth one, and what its own code gave away. */
async function wealthOf(world: World, chain: UserChainId, account: Hex, height: number): Promise<bigint> {
  const { tokens, strangers } = world.network.places[chain]
  const node = world.network.chains[chain]
  const read = async (to: Hex, data: Hex) => BigInt(await node.call(to, data, height))
  const parts = [
    node.weiOf(account, height),
    ...Object.values(tokens).map((token) => read(token, tokenCalls.balanceOf(account))),
    ...(strangers === undefined ? [] : [read(strangers.claims, strangerCalls.claimsOf(account))]),
    ...(strangers?.accounts.includes(account) === true ? [read(account, strangerCalls.given())] : []),
  ]
  return (await Promise.all(parts)).reduce((sum, part) => sum + part, 0n)
}

/**
 * The lesser of what the solver's side paid and what the recipient's whole wealth rose by: who gives something for the
 * payment in its transaction was paid nothing for the order.
 */
export async function paidBySide(
  world: World,
  chain: UserChainId,
  receipt: Receipt,
  paid: { readonly recipient: Hex; readonly token: Hex },
): Promise<bigint> {
  const { id, blockNumber } = receipt
  const key = `${chain} ${id} ${blockNumber} ${paid.recipient} ${paid.token}`
  const known = world.gains.get(key)
  if (known !== undefined) return known
  const gross = await grossBySide(world, chain, receipt, paid)
  const wealth = (height: number) => wealthOf(world, chain, paid.recipient, height)
  const gained = gross === 0n ? 0n : (await wealth(blockNumber)) - (await wealth(blockNumber - 1))
  const amount = gained < gross ? gained : gross
  world.gains.set(key, amount)
  return amount
}

export type HubMove = {
  readonly from: Hex
  readonly to: Hex
  readonly token: bigint
  readonly amount: bigint
}

/** Every move on the hub that its chain holds now, in order. */
export function hubMoves(world: World): readonly HubMove[] {
  return world.sent.hub.flatMap((id) => {
    const receipt = world.network.chains.hub.receiptOf(id)
    return (receipt?.logs ?? []).flatMap(({ topics: [topic, from, to, token], data }) =>
      topic === hubTransferTopic
        ? [
            {
              from: addressIn(from),
              to: addressIn(to),
              token: BigInt(token ?? 0),
              amount: BigInt(`0x${data.slice(-64)}`),
            },
          ]
        : [],
    )
  })
}

export async function heldBy(world: World, chain: UserChainId, name: Currency, holder: Hex): Promise<bigint> {
  if (name === 'coin') return world.network.chains[chain].weiOf(holder)
  const token = world.token(chain, name)
  return BigInt(await world.network.chains[chain].call(token, tokenCalls.balanceOf(holder)))
}

/** Total of the depositories' payouts for one withdrawal, over all its payloads. */
export async function paidOut(world: World, { chain, amount, payloads }: KnownWithdrawal): Promise<bigint> {
  const { depository } = world.network.places[chain]
  let paid = 0n
  for (const payload of new Set(payloads.map((one) => one.payload))) {
    const id = evmWithdrawalId(decodeEvmWithdrawal(payload))
    const used = await world.network.chains[chain].call(depository, depositoryCalls.callRequests(id))
    if (BigInt(used) === 1n) paid += amount
  }
  return paid
}

export const everyCurrency = userChainIds.flatMap((chain) => [
  { chain, name: 'USDC' as const },
  { chain, name: 'USDX' as const },
  { chain, name: 'coin' as const },
])
