import { type ChainGate, checkChainsAtStart, connectQuotingChain, type StartCheckLog } from '@causeway/chains'
import { isContractChain } from '@causeway/core/config'
import { checkLocalNodes } from '@causeway/families'
import type { ChainClient } from '@causeway/rpc'
import type { LoadedFiles } from './files.ts'
import { type ChainAccess, type Opened, openPaidChain, type PaidChain } from './paidChain.ts'

export type OpenChains = {
  readonly paying: readonly PaidChain[]
  /** Clients of every chain of the quote file that has endpoints: prices are read through them too. */
  readonly clients: ReadonlyMap<string, ChainClient>
  /** Gates of chains that did not answer yet: nothing is paid there until they do. */
  readonly gates: ReadonlyMap<string, ChainGate>
  close(): Promise<void>
}

/**
 * Opens one set of endpoints per chain, and compares those that are paid on with the configuration.
 * @throws ConfigurationError for what contradicts it
 */
export async function openChains(
  files: LoadedFiles,
  { log, ...access }: ChainAccess & { readonly log: StartCheckLog },
): Promise<OpenChains> {
  const { chains, quote, solver } = files
  const clients = new Map(connectChains(files).map(({ chain, client }) => [chain.id, client]))
  const opened: Opened = { closable: [...clients.values()], checks: new Map() }
  const close = async () => {
    await Promise.all(opened.closable.map((one) => one.close()))
  }
  try {
    const paying = Object.entries(solver.chains).map(([key, policy]) =>
      openPaidChain(files, access, { key, policy, client: clients.get(key), opened }),
    )
    // EVM chains that are only read are checked too: in `local`, that their nodes are local ones.
    for (const [key, client] of clients) {
      const config = quote.chains[key]
      if (opened.checks.has(key) || config === undefined || !isContractChain(config)) continue
      opened.checks.set(key, () => checkLocalNodes(chains.environment, client))
    }
    return { paying, clients, gates: await checkChainsAtStart(opened.checks, log), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Every chain of the quote file that has endpoints, with its client. Opens no connection. */
export function connectChains({ chains, quote }: Pick<LoadedFiles, 'chains' | 'quote'>) {
  return Object.keys(quote.chains).flatMap((key) => {
    const chain = chains.chains.get(key)
    const client = chain && connectQuotingChain(chain)
    return chain === undefined || client === undefined ? [] : [{ chain, client }]
  })
}
