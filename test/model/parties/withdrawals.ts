// Anybody has a signed withdrawal paid out, and asks the oracles what became of one.

import type { Hex } from '@causeway/core'
import { decodeEvmWithdrawal } from '@causeway/families/rules'
import { depositoryCalls } from '../contracts/calls.ts'
import type { KnownWithdrawal, World } from '../world.ts'

/** Has the depository execute a payload. @param behind what stands behind the calldata */
export async function payOut(
  world: World,
  withdrawal: KnownWithdrawal,
  {
    which = 0,
    from = world.user(4).address,
    behind = '0x',
  }: { which?: number; from?: Hex; behind?: Hex } = {},
): Promise<Hex | undefined> {
  const signed = withdrawal.payloads[which % Math.max(withdrawal.payloads.length, 1)]
  if (signed === undefined) return undefined
  const { chain, payouts } = withdrawal
  const { depository } = world.network.places[chain]
  const execute = depositoryCalls.execute(decodeEvmWithdrawal(signed.payload), signed.signature)
  const data: Hex = `${execute}${behind.slice(2)}`
  const receipt = await world.send(chain, { from, to: depository, data })
  if (receipt.succeeded) payouts.push(receipt.id)
  return receipt.id
}

/**
 * Asks with bytes of one's own for a withdrawal address, and brings what is answered to the hub.
 * @param asked.bytes whatever the caller hands in
 */
export async function close(
  world: World,
  { owner, chain, currency, recipient, flow }: KnownWithdrawal,
  asked: { readonly bytes: Hex; readonly transaction?: Hex | undefined; readonly when?: 'now' | 'later' },
) {
  const answer = await world.oracles.attest('withdrawal', {
    chainId: chain,
    withdrawal: asked.bytes,
    ...(asked.transaction !== undefined && { transactionId: asked.transaction }),
    withdrawalAddressRequest: {
      chainId: chain,
      currency: world.token(chain, currency),
      recipient,
      withdrawer: owner.address,
      withdrawerChainId: flow.ownerChainId,
      withdrawalNonce: flow.nonce,
    },
  })
  if (answer.ok) await world.settle(answer.response.execution, asked.when)
  return answer
}

/** Closes a withdrawal without bytes: the allocator's payload is looked up. */
export async function closeRequested(world: World, { flow }: KnownWithdrawal, transaction: Hex | undefined) {
  const named = transaction === undefined ? {} : { transactionId: transaction }
  const answer = await world.oracles.attest('requestedWithdrawal', { ...flow, ...named })
  if (answer.ok) await world.settle(answer.response.execution)
  return answer
}
