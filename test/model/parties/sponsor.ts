// The sponsor tops up his balance; the service credits what is final, by the shipped judgement of calldata.

import type { Hex } from '@causeway/core'
import { classifyTopUps, encodeTopUp, type TopUpTarget } from '@causeway/families/rules'
import { finalityBlocks } from '../oracles.ts'
import { flowsOf } from '../truth.ts'
import type { World } from '../world.ts'

export async function topUp(world: World, amountMicroUsd: bigint): Promise<void> {
  const { sponsor, custody } = world.network.keys
  const token = world.token('base', 'USDC')
  const call = encodeTopUp({ token, custody: custody.address, amountMicroUsd, owner: sponsor.address })
  const { id } = await world.send('base', { from: sponsor.address, ...call })
  world.topUps.set(id, call.data)
}

/** One round of the watcher: sees, credits what is final, drops what left the chain. */
export function watchTopUps(world: World): void {
  const { base } = world.network.chains
  const { ledger } = world.service
  for (const [id, input] of world.topUps) {
    const receipt = base.receiptOf(id)
    if (receipt === undefined) {
      ledger.settle(id, 'orphaned')
      continue
    }
    for (const { owner, amount } of creditsOf(world, receipt.id, input)) {
      ledger.see(id, owner, amount)
      if (receipt.blockNumber <= base.headNumber - finalityBlocks) ledger.settle(id, 'final')
    }
  }
}

function creditsOf(
  world: World,
  id: Hex,
  input: Hex,
): readonly { readonly owner: Hex; readonly amount: bigint }[] {
  const receipt = world.network.chains.base.receiptOf(id)
  if (receipt === undefined) return []
  const { succeeded, from, to } = receipt
  const token = world.token('base', 'USDC')
  const target: TopUpTarget = { token, custody: world.network.keys.custody.address, allowTrailing: false }
  const logs = flowsOf(world, 'base', receipt).flatMap((flow, ordinal) =>
    flow.to === target.custody && flow.token === token
      ? [{ ordinal, logIndex: ordinal, from: flow.from, value: flow.amount }]
      : [],
  )
  return classifyTopUps({ succeeded, from, to, input, logs }, target).flatMap(({ verdict, log }) =>
    verdict.kind === 'credit' ? [{ owner: verdict.owner, amount: log.value }] : [],
  )
}
