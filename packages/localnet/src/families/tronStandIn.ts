import { tronAddress } from '@causeway/core/encodings'
import { z } from 'zod'
import { hexSchema } from '../files/hexSchema.ts'
import { askNode } from '../nodes/askNode.ts'
import { createTronKnowledge, type KnownTransaction } from '../standIns/tron/knowledge.ts'
import { startTronFacade } from '../standIns/tron/tronFacade.ts'
import { tronChainId } from './familyPlans.ts'
import { openJournal } from './journal.ts'
import { type FamilyStandIn, requireName, type StandInOptions } from './standIn.ts'

const hex = z.templateLiteral(['0x', z.string().regex(/[0-9a-f]*/)])
/** A call frame of the node's call tracer. */
const frame = z.object({
  type: z.string(),
  from: hex,
  to: hex.optional(),
  value: hex.optional(),
  error: z.string().optional(),
  get calls(): z.ZodOptional<z.ZodArray<typeof frame>> {
    return z.array(frame).optional()
  },
})
const entrySchema = z.object({
  transactionId: z.string(),
  evmHash: hexSchema(32),
  rawHex: z.string(),
  isContractCall: z.boolean(),
  feeSun: z.string().optional(),
  trace: frame.optional(),
  /** Name of the depositor, for a deposit that this stand-in made. */
  depositor: z.string().optional(),
})
type Entry = Omit<KnownTransaction, 'feeSun'> & {
  readonly transactionId: string
  readonly feeSun?: string | undefined
  readonly depositor?: string | undefined
}

/**
 * Opens the Tron stand-in: the API of a Tron node in front of Base's node. Its journal keeps what the EVM node does not
 * know of a Tron transaction: its id and raw bytes.
 */
export async function openTron(options: StandInOptions): Promise<FamilyStandIn> {
  const node = (method: string, params: readonly unknown[]) => askNode(options.node.url, method, params)
  const journal = openJournal<Entry>(options.journalFile, entrySchema)
  const kept = await keptTransactions(journal.kept, node)
  const transactions = new Map(kept.map((entry) => [entry.transactionId, knownOf(entry)]))
  const depositIdByDepositor = new Map(
    kept.flatMap(({ depositor, transactionId }) =>
      depositor === undefined ? [] : [[depositor, transactionId]],
    ),
  )
  const keep = (transactionId: string, transaction: KnownTransaction, depositor?: string) => {
    const { feeSun, ...rest } = transaction
    transactions.set(transactionId, transaction)
    journal.add({
      transactionId,
      ...rest,
      ...(feeSun !== undefined && { feeSun: feeSun.toString() }),
      ...(depositor !== undefined && { depositor }),
    })
  }
  const knowledge = { ...createTronKnowledge(transactions), add: keep }
  const facade = await startTronFacade({ node }, knowledge, { chainId: tronChainId, port: options.port })
  return {
    url: facade.url,
    stop: facade.stop,
    async deposit(amount, depositor) {
      const earlierId = depositIdByDepositor.get(depositor)
      if (earlierId !== undefined) return { transactionId: earlierId }
      // Imported late, because most starts find their first deposit in the journal and need no signing libraries.
      const { depositTrx } = await import('./tronDeposits.ts')
      const transactionId = await depositTrx(options, { node, known: transactions, amount })
      const transaction = transactions.get(transactionId)
      if (transaction !== undefined) keep(transactionId, transaction, depositor)
      depositIdByDepositor.set(depositor, transactionId)
      return { transactionId }
    },
    async placeWallet(text) {
      const [{ placeEvmWallet }, { isTronWalletName, tronWallets }, { connectLocalChain }] =
        await Promise.all([
          import('../wallets/evmWallets.ts'),
          import('../wallets/tronWallets.ts'),
          import('../nodes/localChain.ts'),
        ])
      const name = requireName(text, isTronWalletName, tronWallets)
      const chain = connectLocalChain(options.node.url, options.node.chainId)
      return tronAddress(await placeEvmWallet(chain, name, options.tronUsdc))
    },
  }
}

/** Transactions of earlier runs that the node still has, oldest first: in a kill the node may lose its newest blocks. */
async function keptTransactions(
  entries: readonly Entry[],
  node: (method: string, params: readonly unknown[]) => Promise<unknown>,
): Promise<readonly Entry[]> {
  const receipts = await Promise.all(
    entries.map(({ evmHash }) => node('eth_getTransactionReceipt', [evmHash])),
  )
  return entries.filter((_, index) => receipts[index] !== null)
}

function knownOf({ transactionId: _id, depositor: _name, feeSun, ...rest }: Entry): KnownTransaction {
  return { ...rest, ...(feeSun !== undefined && { feeSun: BigInt(feeSun) }) }
}
