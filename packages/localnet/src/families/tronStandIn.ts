import type { Hex } from '@causeway/core'
import type { LocalAccount } from '../keys/localKeys.ts'
import { askNode } from '../nodes/askNode.ts'
import { createTronKnowledge } from '../standIns/tron/knowledge.ts'
import { startTronFacade } from '../standIns/tron/tronFacade.ts'
import { tronChainId } from './familyPlans.ts'
import type { FamilyStandIn } from './standIn.ts'
import { readTronTransactions, writeTronTransactions } from './tronTransactionFile.ts'

export type TronOptions = {
  readonly port: number
  /** The node that runs the contracts. */
  readonly node: { readonly url: string; readonly chainId: number }
  readonly depository: Hex
  /** Who deposits: an account of that node. */
  readonly depositor: LocalAccount
  /** Keeps the transactions of the facade as long as the node keeps them. */
  readonly file: string
  /** See `FamilyNetwork`. */
  readonly tronCreatedFromMs?: number | undefined
}

/** The API of a Tron node in front of the node of Base. Its transactions outlive a restart, as the node's do. */
export async function openTron(options: TronOptions): Promise<FamilyStandIn> {
  const behind = {
    node: (method: string, params: readonly unknown[]) => askNode(options.node.url, method, params),
  }
  const known = await readTronTransactions(behind, options.file)
  const [firstTransactionId] = known.keys()
  const facade = await startTronFacade(behind, createTronKnowledge(known), {
    chainId: tronChainId,
    port: options.port,
  })
  return {
    url: facade.url,
    firstTransactionId,
    stop: facade.stop,
    async deposit(amount) {
      // Only who deposits waits for the libraries that sign and encode: most starts find their first deposit.
      const { depositTrx } = await import('./tronDeposits.ts')
      const transactionId = await depositTrx(options, { ...behind, known, amount })
      await writeTronTransactions(known, options.file)
      return { transactionId }
    },
  }
}
