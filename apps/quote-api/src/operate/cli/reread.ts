import { connectQuotingChain } from '@causeway/chains'
import { type SqlDatabase, UpstreamUnavailableError } from '@causeway/core'
import { createHubEntries, type RegisteredHub } from '@causeway/families'
import { createJsonRpcClient, createQuorumOver } from '@causeway/rpc'
import { recordAction } from '../../access/adminAction.ts'
import type { QuoteApiConfig } from '../../config/config.ts'
import { loadFiles } from '../../config/configuration.ts'
import { createRegistry } from '../../pricing/registry.ts'
import {
  createSettlementChain,
  type SettlementChain,
} from '../../requests/settlement/chain/settlementChain.ts'
import { type ReadTransactions, readTransactions } from '../../requests/settlement/finding/foundDeposits.ts'
import { listRange } from '../../requests/settlement/finding/listBlocks.ts'
import { canonicalId, keepTransactions } from '../../requests/settlement/finding/readNamed.ts'
import { announceStatus } from '../../webhooks/announceStatus.ts'
import { type Command, noOrderSigner } from './command.ts'
import { CommandError } from './commandError.ts'
import { tableOf } from './tableOf.ts'

/** One chain that a command has opened for reading. */
export type CommandReader = { readonly chain: SettlementChain; close(): Promise<void> }

/** Most blocks of one command. */
const blocksMax = 100_000n

/**
 * Opens the reader from the configuration files.
 * @param name key or number of the chain
 * @throws CommandError for a chain that is not quoted, ConfigurationError
 */
export async function openReader(
  {
    config,
    variables,
  }: { readonly config: QuoteApiConfig; readonly variables: Parameters<typeof loadFiles>[1] },
  name: string,
): Promise<CommandReader> {
  const { chains, quote } = await loadFiles(config, variables, noOrderSigner)
  const registry = createRegistry(quote, [...chains.chains.values()])
  const quotable = registry.chains.find(({ key, chainId }) => key === name || String(chainId) === name)
  const registered = quotable && chains.chains.get(quotable.key)
  const client = registered && connectQuotingChain(registered)
  if (quotable === undefined || registered === undefined || client === undefined)
    throw new CommandError(`<chain>: ${name} is not quoted, or has no endpoint.`)
  // On chains whose transfers name no order, entries on the hub tell it.
  const hub = quotable.quoting.transferNonce === undefined ? undefined : openHub(chains.hub)
  const chain = createSettlementChain({
    quotable,
    registered,
    client,
    onMalformed: () => {},
    hubEntries: hub?.hubEntries,
    fillWallet: quote.fillWallet,
  })
  return {
    chain,
    async close() {
      await Promise.all([client.close(), hub?.close()])
    },
  }
}

function openHub(hub: RegisteredHub | undefined) {
  const { genericMappingAddress: mappingAddress } = hub ?? {}
  if (hub === undefined || mappingAddress === undefined)
    throw new CommandError('The hub is not configured: nothing says which order a transfer is for.')
  const client = createJsonRpcClient({
    chainId: hub.id,
    endpoints: hub.endpoints.map((url) => ({ url })),
  })
  const quorum = createQuorumOver(client)
  return { hubEntries: createHubEntries({ quorum, mappingAddress }), close: () => client.close() }
}

export const rereadCommands: readonly Command[] = [
  {
    words: 'chains reread',
    changes: true,
    about: 'Read a transaction, or all from one block to another, now; keeps the deposits and prints them',
    operands: ['chain', 'transaction|from-to'],
    async run({ database, actor, openReader: openChain }, args) {
      const target = args.operand('transaction|from-to')
      const { chain, close } = await openChain(args.operand('chain'))
      const { signal } = new AbortController()
      try {
        const range = readRange(target)
        const batches =
          range === undefined
            ? [await readTransactions(chain, [readId(chain, target)], signal)]
            : await readBlocks(chain, range, signal)
        for (const batch of batches) await keepTransactions(contextOf(database), chain, batch)
        await database.transaction((tx) =>
          recordAction(tx, { actor, action: 'chains.reread', subject: chain.chain.key, details: { target } }),
        )
        return outputOf(batches)
      } finally {
        await close()
      }
    },
  },
]

/** A command has no metrics to observe events for. */
const contextOf = (database: SqlDatabase) => ({ database, announce: announceStatus, observe: () => {} })

function readRange(text: string): { readonly from: bigint; readonly to: bigint } | undefined {
  const [, from, to] = /^([0-9]{1,18})-([0-9]{1,18})$/.exec(text) ?? []
  if (from === undefined || to === undefined) return undefined
  const range = { from: BigInt(from), to: BigInt(to) }
  if (range.to < range.from || range.to - range.from >= blocksMax)
    throw new CommandError(
      `<transaction|from-to>: expected at most ${blocksMax} blocks, the lower one first.`,
    )
  return range
}

function readId(chain: SettlementChain, text: string): string {
  const id = canonicalId(chain, text)
  if (id !== undefined) return id
  throw new CommandError(
    '<transaction|from-to>: expected an id as the chain spells it, or two heights as 100-200.',
  )
}

/**
 * Reads the range from its first block on: each listing covers as many blocks as endpoints answer at once,
 * and the next one begins after it. A listing that is short left transactions of its blocks out; the same
 * blocks are listed again, which gives others, until none is left out.
 * @throws UpstreamUnavailableError
 */
async function readBlocks(
  chain: SettlementChain,
  { from, to }: { readonly from: bigint; readonly to: bigint },
  signal: AbortSignal,
): Promise<readonly ReadTransactions[]> {
  const batches: ReadTransactions[] = []
  for (let nextBlock = from; nextBlock <= to; ) {
    // `known` is the height whose hash would show a reorg: that of the block before, where there is one.
    const knownBlock = nextBlock > 0n ? nextBlock - 1n : nextBlock
    const range = { known: knownBlock, from: nextBlock, to }
    const { pass, to: listedTo } = await listRange(chain, range, signal)
    if (pass.last === undefined)
      throw new UpstreamUnavailableError(`The chain does not reach block ${listedTo} yet.`)
    batches.push(await readTransactions(chain, pass.transactions, signal))
    if (pass.isShort !== true) nextBlock = listedTo + 1n
  }
  return batches
}

function outputOf(batches: readonly ReadTransactions[]) {
  const deposits = batches
    .flatMap(({ found }) => found)
    .map(({ txHash, orderId, depositor, currency, amount, blockNumber }) => ({
      transaction: txHash,
      order: orderId,
      depositor,
      currency,
      amount: amount.toString(),
      block: blockNumber.toString(),
    }))
  const unread = batches.flatMap(({ aside, failed }) => [
    ...aside.map(({ transactionId, reason }) => ({ transaction: transactionId, reason: String(reason) })),
    ...failed.map(({ transactionId, error }) => ({ transaction: transactionId, reason: error.message })),
  ])
  const lines = [
    ...(deposits.length === 0 ? ['No deposit was found.'] : tableOf(deposits)),
    ...(unread.length === 0 ? [] : ['These could not be read:', ...tableOf(unread)]),
  ]
  return { data: { deposits, unread }, lines, isFailure: unread.length > 0 }
}
