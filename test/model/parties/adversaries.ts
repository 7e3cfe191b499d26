// Attempts of each party, named by their goal.

import { encodeMintAction, type Hex } from '@causeway/core'
import { decodeEvmWithdrawal, encodeEvmWithdrawal } from '@causeway/families/rules'
import type { LocalAccount } from '@causeway/localnet'
import { concatHex } from 'viem'
import { aggregate3, tokenCalls } from '../contracts/calls.ts'
import { authorizationDigest } from '../contracts/token.ts'
import { textHash } from '../hash.ts'
import { chainNumbers, tokenNames, type UserChainId } from '../network.ts'
import { hexOf, type WorkItem } from '../serviceRequest.ts'
import { signDigest } from '../signing.ts'
import type { KnownOrder, World } from '../world.ts'
import { outputsOf, type Payment, pay } from './solver.ts'

let authorizations = 0

/** Somebody owes the recipient money and signed for it; a thief hands it in with an order id behind it. */
export async function relayAuthorization(
  world: World,
  known: KnownOrder,
  { payer, thief }: { readonly payer: LocalAccount; readonly thief: LocalAccount },
): Promise<Hex | undefined> {
  const [payment] = outputsOf(known)
  if (payment === undefined) return undefined
  const data = await authorization(known, { payer, to: payment.recipient, value: payment.amount })
  if (data === undefined) return undefined
  const sent = { from: thief.address, to: payment.currency, data: concatHex([data, known.orderId]) }
  return (await world.send(known.destination, sent)).id
}

/** A payment in the order's token that anybody may hand in. @returns undefined where it is no token */
export async function authorization(
  { destination, currency, order }: KnownOrder,
  { payer, to, value }: { readonly payer: LocalAccount; readonly to: Hex; readonly value: bigint },
): Promise<Hex | undefined> {
  const [payment] = order.output.payments
  if (currency === 'coin' || payment === undefined) return undefined
  authorizations += 1
  const nonce = textHash(`authorization ${authorizations}`)
  const [from, validBefore] = [payer.address, 4_000_000_000n]
  const place = { chainId: chainNumbers[destination], self: hexOf(payment.currency), ...tokenNames[currency] }
  const signature = await signDigest(
    payer,
    authorizationDigest(place, { from, to, value, nonce, validBefore }),
  )
  return tokenCalls.transferWithAuthorization(from, to, value, 0n, validBefore, nonce, signature)
}

/** The recipient moves his own money to himself and names the order. */
export async function payOneself(world: World, known: KnownOrder): Promise<Hex | undefined> {
  const [payment] = outputsOf(known)
  if (payment === undefined) return undefined
  const { recipient: from, currency: to, amount } = payment
  const data = concatHex([tokenCalls.transfer(from, amount), known.orderId])
  return (await world.send(known.destination, { from, to, data })).id
}

/** A contract moves the money there and back in one transaction, in the name of whoever allowed it to. */
export async function thereAndBack(
  world: World,
  known: KnownOrder,
  { payer, back }: { readonly payer: LocalAccount; readonly back: bigint },
): Promise<Hex | undefined> {
  const [payment] = outputsOf(known)
  if (payment === undefined) return undefined
  const { destination } = known
  const { recipient, currency: target, amount } = payment
  const { multicall3, depository } = world.network.places[destination]
  // No contract of ours allows anybody anything.
  if (recipient === depository) return undefined
  for (const from of [payer.address, recipient]) {
    await world.send(destination, { from, to: target, data: tokenCalls.approve(multicall3, 2n ** 255n) })
  }
  const moves = [
    tokenCalls.transferFrom(payer.address, recipient, amount),
    tokenCalls.transferFrom(recipient, payer.address, back),
  ]
  const calls = moves.map((callData) => ({ target, allowFailure: false, callData }))
  const data = concatHex([aggregate3(calls), known.orderId])
  return (await world.send(destination, { from: payer.address, to: multicall3, data })).id
}

/** One batch that pays each recipient once, and names two orders. */
export async function payOnceForTwo(world: World, one: KnownOrder, other: KnownOrder): Promise<Hex> {
  const { destination } = one
  const { multicall3 } = world.network.places[destination]
  const from = world.network.keys.fillWallet.address
  const largest = new Map<Hex, Payment>()
  for (const payment of [...outputsOf(one), ...outputsOf(other)]) {
    const known = largest.get(payment.recipient)
    if (known === undefined || known.amount < payment.amount) largest.set(payment.recipient, payment)
  }
  const payments = [...largest.values()]
  for (const to of new Set(payments.map(({ currency }) => currency))) {
    await world.send(destination, { from, to, data: tokenCalls.approve(multicall3, 2n ** 255n) })
  }
  const calls = payments.map(({ currency: target, recipient, amount }) => ({
    target,
    allowFailure: false,
    callData: tokenCalls.transferFrom(from, recipient, amount),
  }))
  const data = concatHex([aggregate3(calls), other.orderId, one.orderId])
  return (await world.send(destination, { from, to: multicall3, data })).id
}

/** A unit less than is owed. */
export async function underpay(world: World, known: KnownOrder): Promise<Hex> {
  const payments = outputsOf(known).map(({ amount, ...rest }): Payment => ({ ...rest, amount: amount - 1n }))
  return pay(world, known.destination, { ids: [known.orderId], payments, by: 'contract' })
}

/** The fill wallet's key is stolen: its money goes to the thief, with an order's id behind it. */
export async function drain(
  world: World,
  chain: UserChainId,
  { thief, token, amount, id }: { thief: LocalAccount; token: Hex; amount: bigint; id: Hex },
): Promise<Hex> {
  const payments = [{ recipient: thief.address, currency: token, amount }]
  return pay(world, chain, { ids: [id], payments, by: 'transfer' })
}

/** The solver's key at the service is stolen: it reports whatever it likes. */
export function reportAnything(world: World, item: WorkItem, transaction: Hex): void {
  world.service.report(item, transaction)
}

/** An issued payload as anybody can write it: another nonce, and over long ago. */
export function expiredCopy(payload: Hex): Hex {
  return encodeEvmWithdrawal({ ...decodeEvmWithdrawal(payload), nonce: 1n, expiration: 1_700_000_000n })
}

/** The issued payload, and over long ago: what it pays and its nonce are right. */
export function sameButOver(payload: Hex): Hex {
  return encodeEvmWithdrawal({ ...decodeEvmWithdrawal(payload), expiration: 1_700_000_000n })
}

/** One peer alone writes itself a claim. */
export async function mintAlone(world: World, thief: LocalAccount, hubToken: bigint): Promise<void> {
  const hubTo = world.aliasOf(thief, 'base')
  const idempotencyKey = textHash(`alone ${world.executions.length}`)
  const action = encodeMintAction({ hubTo, hubTokenId: hubToken, amount: 1_000n })
  await world.execute(await world.oracles.peerAlone({ idempotencyKey, actions: [action] }))
}
