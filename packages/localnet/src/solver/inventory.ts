import { randomUUID } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi, maxUint256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { wrappedNativeAbi } from '../contracts/abis.generated.ts'
import type { ChainDesk } from './chainDesk.ts'
import { nativeCurrency, type PlannedTransaction } from './fillTransaction.ts'
import type { Outbox } from './outbox.ts'
import { owedDeposits, readDeposits, settlementTransaction } from './settlement.ts'
import type { SolverChainConfig } from './solverConfig.ts'

/** What the fill wallet holds on one chain, and how it comes to more. */
export type Inventory = {
  /** True when it can pay this much of a currency now. When not, whatever brings it has begun. */
  has(currency: Hex, amount: bigint): Promise<boolean>
  /** Fetches what the depository owes of every currency that runs low. */
  restock(finalBlock: bigint): Promise<void>
}

export function createInventory(
  desk: ChainDesk,
  chain: SolverChainConfig,
  { outbox, allocator }: { readonly outbox: Outbox; readonly allocator: PrivateKeyAccount },
): Inventory {
  const { client, account } = desk.wallet
  const { address } = account

  /** One chore of a kind at a time: the next look sees what the last one did. */
  async function chore(
    name: string,
    transaction: PlannedTransaction,
    covers: readonly string[] = [],
  ): Promise<void> {
    const prefix = `${name}-${chain.chainId}-`
    const isUnderWay = outbox.all().some(({ id, outcome }) => id.startsWith(prefix) && outcome === 'open')
    if (isUnderWay) return
    const simulation = await desk.wallet.simulate(transaction)
    if (!simulation.succeeds) return
    const subject = { id: `${prefix}${randomUUID()}`, kind: 'chore' as const, covers: [...covers] }
    await desk.begin(subject, { ...transaction, gas: simulation.gas })
  }

  async function settle(currency: Hex, finalBlock: bigint): Promise<void> {
    const logged = await readDeposits(desk.wallet, chain.depository, finalBlock)
    const deposits = owedDeposits(logged, outbox.all()).filter((deposit) => deposit.currency === currency)
    if (deposits.length === 0) return
    const parts = { ...chain, allocator, wallet: address, currency, deposits }
    const transaction = await settlementTransaction(parts)
    await chore(
      `settle-${currency}`,
      transaction,
      deposits.map(({ key }) => key),
    )
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
        return false
      }
      const { finalBlock } = await desk.wallet.counts()
      await settle(currency, finalBlock)
      return false
    },
    async restock(finalBlock) {
      for (const { currency, low } of chain.stock) {
        if ((await balanceOf(currency)) < low) await settle(currency, finalBlock)
      }
    },
  }
}
