import { randomUUID } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi, maxUint256 } from 'viem'
import { wrappedNativeAbi } from '@causeway/localnet'
import type { ChainDesk } from './chainDesk.ts'
import { nativeCurrency, type PlannedTransaction } from './fillTransaction.ts'
import type { Outbox } from './outbox.ts'
import type { SolverChainConfig } from '../compose/solverConfig.ts'

/** What the fill wallet holds on one chain, and how it comes to more. */
export type Inventory = {
  /** True when it can pay this much of a currency now. When not, whatever brings it has begun. */
  has(currency: Hex, amount: bigint): Promise<boolean>
}

export function createInventory(desk: ChainDesk, chain: SolverChainConfig, outbox: Outbox): Inventory {
  const { client, account } = desk.wallet
  const { address } = account

  /** One chore of a kind at a time: the next look sees what the last one did. */
  async function chore(name: string, transaction: PlannedTransaction): Promise<void> {
    const prefix = `${name}-${chain.chainId}-`
    const isUnderWay = outbox.all().some(({ id, outcome }) => id.startsWith(prefix) && outcome === 'open')
    if (isUnderWay) return
    const simulation = await desk.wallet.simulate(transaction)
    if (!simulation.succeeds) return
    const subject = { id: `${prefix}${randomUUID()}`, kind: 'chore' as const }
    await desk.begin(subject, { ...transaction, gas: simulation.gas })
  }

  const balanceOf = (currency: Hex) =>
    currency === nativeCurrency
      ? client.getBalance({ address, blockTag: 'pending' })
      : client.readContract({
          ...{ address: currency, abi: erc20Abi, functionName: 'balanceOf', args: [address] },
          blockTag: 'pending',
        })

  async function isAllowed(currency: Hex, amount: bigint): Promise<boolean> {
    if (currency === nativeCurrency) return true
    const args = [address, chain.fillContract] as const
    const allowance = await client.readContract({
      ...{ address: currency, abi: erc20Abi, functionName: 'allowance', args },
    })
    if (allowance >= amount) return true
    const data = encodeFunctionData({
      ...{ abi: erc20Abi, functionName: 'approve', args: [chain.fillContract, maxUint256] },
    })
    await chore(`approve-${currency}`, { to: currency, data, valueWei: 0n })
    return false
  }

  return {
    async has(currency, amount) {
      const balance = await balanceOf(currency)
      if (balance >= amount) return isAllowed(currency, amount)
      if (currency === chain.wrappedNative) {
        const data = encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' })
        await chore('wrap', { to: currency, data, valueWei: amount - balance })
      }
      return false
    },
  }
}
