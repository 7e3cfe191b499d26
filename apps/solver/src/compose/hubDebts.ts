import { hubAlias, hubTokenId, type ProtocolChain } from '@causeway/core'
import { isContractChain } from '@causeway/core/config'
import { codecOf, InvalidAddressError } from '@causeway/core/encodings'
import { createHubBooks } from '@causeway/families'
import type { HubBalance, HubOwner } from '../wallet/inventoryReport.ts'
import type { EarnedDeposit } from '../wallet/paymentProofs.ts'
import type { SolverConfig } from './config.ts'
import type { LoadedFiles } from './files.ts'
import { connectHub } from './hub.ts'

/** Debts of the hub to the solver, by key of the chain that can pay them out, and canonical currency. */
export type HubDebts = {
  /** Balances that can be withdrawn now. */
  atHub(chain: string, currency: string): readonly HubBalance[]
  /** Sum of earned deposits that the hub has not moved to the solver yet. */
  unsettled(chain: string, currency: string): bigint
}

const timeoutMs = 120_000

/**
 * Reads what the hub owes; undefined without a hub, its endpoints or order signers.
 * @param earned deposits that the solver has earned by payments
 */
export async function readHubDebts(
  files: LoadedFiles,
  { orderSigners }: Pick<SolverConfig, 'orderSigners'>,
  earned: readonly EarnedDeposit[],
): Promise<HubDebts | undefined> {
  const { hub } = files.chains
  if (hub === undefined || !hub.ready || orderSigners.size === 0) return undefined
  const accounts = solverAccounts(files, orderSigners)
  const { client, quorum } = connectHub(hub)
  const { oracleAddress, hubAddress } = hub
  const books = createHubBooks({ quorum, oracleAddress, hubAddress })
  const reading = { signal: AbortSignal.timeout(timeoutMs) }
  try {
    const balances = await books.balances(accounts, reading)
    const executionKeys = earned.map(({ key }) => key)
    const areMoved = await books.executed(executionKeys, reading)
    const currencyOf = ({ chain, currency }: EarnedDeposit) =>
      codecOf(protocolChain(files, chain)).canonicalAddress(currency)
    const waiting = earned.filter((_deposit, index) => areMoved[index] === false)
    return {
      atHub: (chain, currency) =>
        accounts.flatMap((account, index): readonly HubBalance[] => {
          // The hub tells one balance for each account.
          const amount = balances[index] ?? 0n
          const isOwed = account.chain === chain && account.currency === currency && amount > 0n
          return isOwed ? [{ ...account.owner, amount }] : []
        }),
      unsettled: (chain, currency) =>
        waiting
          .filter((deposit) => deposit.chain === chain && currencyOf(deposit) === currency)
          .reduce((sum, { amount }) => sum + amount, 0n),
    }
  } finally {
    await client.close()
  }
}

/** The solver's accounts on the hub: one for each owner of balances and each currency that can be deposited. */
function solverAccounts(files: LoadedFiles, orderSigners: ReadonlySet<string>) {
  const { quote, chains } = files
  // Orders name the solver by an EVM address, and so on EVM chains alone.
  const owners = Object.entries(quote.chains)
    .filter(([, config]) => isContractChain(config))
    .flatMap(([chain]) => [...orderSigners].map((account): HubOwner => ({ chain, account })))
  return Object.entries(quote.chains).flatMap(([chain, { currencies }]) => {
    if (!chains.chains.has(chain)) return []
    const paidChain = protocolChain(files, chain)
    return currencies.flatMap(({ address }) => {
      const currency = codecOf(paidChain).canonicalAddress(address)
      const tokenId = tokenOf(paidChain, currency)
      if (tokenId === undefined) return []
      return owners.map((owner) => {
        const holder = hubAlias(protocolChain(files, owner.chain), owner.account)
        return { chain, owner, currency, holder, tokenId }
      })
    })
  })
}

/** @throws Error for a chain that the chains file does not list */
function protocolChain({ chains: { chains } }: LoadedFiles, key: string): ProtocolChain {
  const chain = chains.get(key)
  if (chain === undefined) throw new Error(`${key} left the configuration`)
  return { chainId: key, vmType: chain.vmType, network: chain.network }
}

/** The hub's token of a currency; undefined if it has none, because nobody deposits that currency. */
function tokenOf(chain: ProtocolChain, currency: string): bigint | undefined {
  try {
    return hubTokenId(chain, currency)
  } catch (error) {
    if (error instanceof InvalidAddressError) return undefined
    throw error
  }
}
