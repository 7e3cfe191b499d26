// What really happened, told from receipts and storage alone, without any of the services' code.
import { decodeEvmWithdrawal, evmWithdrawalId, type Hex } from '@causeway/core'
import type { Receipt } from './chain/chain.ts'
import { depositoryCalls, tokenCalls } from './contracts/calls.ts'
import { type TokenName, type UserChainId, userChainIds } from './network.ts'
import type { KnownWithdrawal, World } from './world.ts'

export type Flow = { readonly token: Hex; readonly from: Hex; readonly to: Hex; readonly amount: bigint }

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const authorizationTopic = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const hubTransferTopic = '0x1b3d7edb2e9c0b0e7c525b20aaaef0f5940d2ed71663c7d39266ecafac728859'
const addressIn = (word: Hex | undefined): Hex => `0x${(word ?? '').slice(-40)}`

/** What moved of the network's tokens, which are known to say what they do. */
export function flowsOf(world: World, chain: UserChainId, { logs }: Receipt): readonly Flow[] {
  const tokens: readonly string[] = Object.values(world.network.places[chain].tokens)
  return logs.flatMap(({ address, topics: [topic, from, to], data }) => {
    const token: Hex = `0x${address.slice(2).toLowerCase()}`
    if (topic !== transferTopic || !tokens.includes(token)) return []
    return [{ token, from: addressIn(from), to: addressIn(to), amount: BigInt(data) }]
  })
}

/**
 * What a recipient has of a transaction from the solver's side: its sender, the fill wallet and the fill contract,
 * less all that left him; nothing of what somebody else's signature moved.
 */
export function paidBySide(
  world: World,
  chain: UserChainId,
  receipt: Receipt,
  paid: { readonly recipient: Hex; readonly token: Hex },
): bigint {
  const { fillContract } = world.network.places[chain]
  const authorizers = receipt.logs.flatMap(({ topics: [topic, account] }) =>
    topic === authorizationTopic ? [addressIn(account)] : [],
  )
  // The fill contract takes what it pays from its caller: it holds nothing of its own.
  const side = [receipt.from, world.network.keys.fillWallet.address, fillContract]
  const isSide = (account: Hex) =>
    side.includes(account) && (account === receipt.from || !authorizers.includes(account))
  let gained = 0n
  for (const { token, from, to, amount } of flowsOf(world, chain, receipt)) {
    if (token !== paid.token || from === to) continue
    if (to === paid.recipient && isSide(from)) gained += amount
    if (from === paid.recipient) gained -= amount
  }
  return gained
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
              ...{ from: addressIn(from), to: addressIn(to), token: BigInt(token ?? 0) },
              amount: BigInt(`0x${data.slice(-64)}`),
            },
          ]
        : [],
    )
  })
}

export async function heldBy(
  world: World,
  chain: UserChainId,
  name: TokenName,
  holder: Hex,
): Promise<bigint> {
  const token = world.token(chain, name)
  return BigInt(await world.network.chains[chain].call(token, tokenCalls.balanceOf(holder)))
}

/** What depositories paid out for one withdrawal, all its payloads together. */
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
])
