import type { Hex } from '@causeway/core'
import type { Account, Chain, PublicClient, TransactionReceipt, Transport, WalletClient } from 'viem'

/** Both sides of one chain: reads, and writes by one funded account. */
export type LocalClients = {
  readonly publicClient: PublicClient
  readonly walletClient: WalletClient<Transport, Chain, Account>
}

/** Waits for a transaction. @throws Error when it reverted */
export async function mined(clients: LocalClients, hash: Hex, what: string): Promise<TransactionReceipt> {
  const receipt = await clients.publicClient.waitForTransactionReceipt({ hash, pollingInterval: 20 })
  if (receipt.status !== 'success') throw new Error(`${what} reverted`)
  return receipt
}

/**
 * Gas for calls of a pool. An estimate can be too low: the first call of a block also writes the pool's
 * price history, and whether it does depends on the second it is mined in.
 */
export const poolCallGas = 16_000_000n
