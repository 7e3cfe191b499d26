// Anybody who fills orders and gives deposits back, and has it attested.
import type { Hex } from '@causeway/core'
import { concatHex, keccak256, toHex } from 'viem'
import { tokenCalls } from '../contracts/calls.ts'
import { coinAddress, type UserChainId } from '../network.ts'
import type { KnownDeposit, KnownOrder, World } from '../world.ts'
import { approveOnce, recordCall } from './honestSolver.ts'

export type Payment = { readonly recipient: Hex; readonly currency: Hex; readonly amount: bigint }

const never = 2n ** 40n

/**
 * Pays with ids behind the calldata: through the fill contract, or in one plain transfer.
 * @param paid.from default the fill wallet
 */
export async function pay(
  world: World,
  chain: UserChainId,
  paid: {
    readonly ids: readonly Hex[]
    readonly payments: readonly Payment[]
    readonly by: 'contract' | 'transfer'
    readonly recordId?: Hex
    readonly from?: Hex
  },
): Promise<Hex> {
  const { payments, ids, from = world.network.keys.fillWallet.address } = paid
  const [only, ...others] = payments
  if (paid.by === 'transfer' && only !== undefined && others.length === 0) {
    const { recipient, currency, amount } = only
    const sent =
      currency === coinAddress
        ? { from, to: recipient, data: concatHex(ids), value: amount }
        : { from, to: currency, data: concatHex([tokenCalls.transfer(recipient, amount), ...ids]) }
    return (await world.send(chain, sent)).id
  }
  await approveOnce(world, chain, from, payments)
  // A party that fills an order again does so under another id: the contract would refuse the same.
  const id = paid.recordId ?? keccak256(concatHex([...ids, toHex(world.sent[chain].length, { size: 32 })]))
  const { data, value } = recordCall({ id, deadline: never, payments })
  const to = world.network.places[chain].fillContract
  return (await world.send(chain, { from, to, data: concatHex([data, ...ids]), value })).id
}

/** Minimum outputs of an order. */
export function outputsOf({ order }: KnownOrder): readonly Payment[] {
  return order.output.payments.map(({ recipient, currency, minimumAmount }) => ({
    recipient: `0x${recipient.slice(2)}`,
    currency: `0x${currency.slice(2)}`,
    amount: BigInt(minimumAmount),
  }))
}

/** The one input that a deposit's transaction is, as oracles name it. */
async function inputsOf(world: World, { orderId }: KnownOrder, { chain, id }: KnownDeposit) {
  const [oracle] = world.oracles.honest
  const answer = await oracle.attest('deposits', { chainId: chain, transactionId: id })
  const messages = answer.ok ? answer.response.messages : []
  const found = messages.find(({ result }) => result.depositId === orderId)
  if (found === undefined) return undefined
  const inputs = [{ transactionId: id, onchainId: found.result.onchainId, inputIndex: 0 }]
  return { inputs, deposited: BigInt(found.result.amount) }
}

/** Asks for the settlement of an order by a transaction, whatever it is, and brings it to the hub. */
export async function settleFill(
  world: World,
  known: KnownOrder,
  named: { readonly deposit: KnownDeposit; readonly transaction: Hex; readonly when?: 'now' | 'later' },
) {
  const { deposit, transaction, when } = named
  const found = await inputsOf(world, known, deposit)
  if (found === undefined) return undefined
  const { order, orderSignature } = known
  const request = { order, orderSignature, inputs: found.inputs, fill: { transactionId: transaction } }
  const answer = await world.oracles.attest('fill', request)
  if (!answer.ok) return answer
  const { deposited } = found
  if (answer.response.execution === undefined) return answer
  world.settlements.push({ kind: 'fill', known, transaction, deposit: deposit.id, deposited })
  await world.settle(answer.response.execution, when)
  return answer
}

export async function settleRefund(
  world: World,
  known: KnownOrder,
  { deposit, transaction }: { readonly deposit: KnownDeposit; readonly transaction: Hex },
) {
  const found = await inputsOf(world, known, deposit)
  if (found === undefined) return undefined
  const { order, orderSignature } = known
  const refunds = [{ transactionId: transaction, inputIndex: 0, refundIndex: 0 }]
  const answer = await world.oracles.attest('refund', {
    order,
    orderSignature,
    inputs: found.inputs,
    refunds,
  })
  if (!answer.ok) return answer
  const { deposited } = found
  if (answer.response.execution === undefined) return answer
  world.settlements.push({ kind: 'refund', known, transaction, deposit: deposit.id, deposited })
  await world.settle(answer.response.execution)
  return answer
}
