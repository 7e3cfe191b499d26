import { UpstreamUnavailableError } from '@causeway/core'
import { bitcoinNetworkOf, createBitcoinCodec } from '@causeway/core/encodings'
import type { ChainClient, EndpointView, NamedOutput } from '@causeway/rpc'
import {
  AddressRefusedError,
  askEnough,
  createLruCache,
  createQuorumOver,
  verifyLocalEndpoints,
} from '@causeway/rpc'
import type { AccountLack } from '../../rules/networkFees.ts'
import type { SpendableOutput } from '../../rules/plannedTransaction.ts'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import type { NetworkReaderOptions } from '../../shared/networkReader.ts'
import type {
  QuotingChain,
  QuotingChainFamily,
  QuotingChainOptions,
  UserFacts,
} from '../../shared/quotingChain.ts'
import { createRecent, recentMs } from '../../shared/recent.ts'
import { createBitcoindView } from '../reading/bitcoindView.ts'
import { firstBlocks, firstBlocksOf } from '../reading/openBitcoinChain.ts'
import { connectBitcoin } from './connectBitcoin.ts'
import { createBitcoinNetworkReader } from './feeReader.ts'
import { readOwnOutputs } from './ownOutputs.ts'
import { createUnspentGroups } from './unspentGroups.ts'

const lacksNothing: AccountLack = {}
const bitcoinDecimals = 8
/** Limit of cached outputs: an outpoint's value and script never change. */
const cachedOutputsMax = 20_000
/** Characters of a cached output's transaction; an output with more counts as several entries. */
const charactersPerEntry = 4_096
/** Time that a start waits for a chain. */
const checkTimeoutMs = 5_000

/**
 * The live part of quoting on Bitcoin. Of an account, a quote needs only the outputs that it can spend.
 */
export const bitcoinQuotingChain: QuotingChainFamily = {
  connect: connectBitcoin,
  open: openQuotingChain,
  network: { reader: createBitcoinNetworkReader, contradictions },
}

function openQuotingChain(options: QuotingChainOptions): QuotingChain {
  const { client, now } = options
  const network = bitcoinNetworkOf(options.network)
  const { isAddress } = createBitcoinCodec(network)
  const recent = createRecent<UserFacts>(now, {
    weightOf: ({ spendable = [] }) => spendable.reduce((sum, output) => sum + weightOf(output), 0),
  })
  const listingClient = withCachedLists(client, now)
  const outputCache = createLruCache<SpendableOutput>(cachedOutputsMax, weightOf)
  const askUnspent = createUnspentGroups(client)
  const readFacts = async (user: string): Promise<UserFacts | undefined> => {
    // Without the outputs no step can be made, so they may take as long as what a price needs.
    const limits = { timeoutMs: options.neededWithinMs }
    try {
      const ownAddress = { address: user, network }
      const outputsOptions = { ...limits, outputCache, askUnspent }
      const spendable = await readOwnOutputs(listingClient, ownAddress, outputsOptions)
      return { spendable, balance: spendable.reduce((sum, { value }) => sum + value, 0n) }
    } catch (error) {
      // The quote's caller gets this error, because every reading of the address would be refused.
      if (error instanceof AddressRefusedError) return { refusal: error }
      options.onFailure(error)
      return undefined
    }
  }
  return {
    // The native sentinel stands for a user who is not chosen yet, and has no outputs.
    userFacts: async ({ user }) =>
      isAddress(user) ? ((await recent(user, () => readFacts(user))) ?? {}) : {},
    // Nothing has to exist on chain before an address is paid.
    lackOf: async () => lacksNothing,
    // Spending conditions of an output are fixed when it is made: no foreign code decides, and no calls are run.
    hasCode: async () => false,
    unitsOfCalls: undefined,
  }
}

/** Cache entries that an output counts as. */
const weightOf = ({ transaction = '0x' }: SpendableOutput): number =>
  Math.ceil(transaction.length / charactersPerEntry)

/**
 * Caches the lists of an address's outputs: they change only with blocks, minutes apart. Nodes are still asked each
 * time whether the outputs are unspent.
 */
function withCachedLists(client: ChainClient, now: () => number): ChainClient {
  const { nameOutputs } = client
  if (nameOutputs === undefined) return client
  const recent = createRecent<readonly NamedOutput[] | AddressRefusedError>(now, {
    forMs: () => recentMs.steady,
  })
  return {
    ...client,
    async nameOutputs(address, signal) {
      let failure: unknown
      const outputs = await recent(address, () =>
        nameOutputs(address, signal).catch((error: unknown) => {
          if (error instanceof AddressRefusedError) return error
          failure = error
          return undefined
        }),
      )
      if (outputs instanceof AddressRefusedError) throw outputs
      // A caller who shared another caller's lookup has no `failure` of his own.
      return outputs ?? Promise.reject(failure ?? new UpstreamUnavailableError('Nobody named the outputs.'))
    },
  }
}

/** Endpoints of another network, and currencies with wrong decimals. @throws upstream errors */
async function contradictions(
  options: NetworkReaderOptions & { readonly isLocal: boolean },
): Promise<readonly ChainFinding[]> {
  return [...(await findForeignEndpoints(options)), ...findWrongDecimals(options)]
}

async function findForeignEndpoints({
  client,
  network,
  isLocal,
}: Pick<NetworkReaderOptions, 'client' | 'network'> & { readonly isLocal: boolean }) {
  const quorum = createQuorumOver(client)
  const signal = AbortSignal.timeout(checkTimeoutMs)
  const networkBlocks = isLocal ? firstBlocks.regtest : firstBlocksOf({ network })
  const foreignProblem = (hash: string) => (networkBlocks.includes(hash) ? undefined : 'is foreign')
  const [answered] = await Promise.all([
    askEnough(quorum, readFirstBlock, signal),
    // Awaited for the error that it throws if too many endpoints are silent: foreign ones are found below.
    isLocal ? verifyLocalEndpoints(quorum, readFirstBlock, foreignProblem, signal) : [],
  ])
  return answered.flatMap(({ alias, said: blockHash }): readonly ChainFinding[] => {
    if (networkBlocks.includes(blockHash)) return []
    const setting = `chains: ${client.chainId}.httpRpcUrl`
    const problem = `endpoint ${alias} is on another network`
    return [{ kind: 'network', setting, value: network ?? 'mainnet', said: blockHash, problem }]
  })
}

const readFirstBlock = (view: EndpointView, signal: AbortSignal) =>
  createBitcoindView(view).readBlockHash(0n, signal)

function findWrongDecimals({
  client,
  currencies,
}: Pick<NetworkReaderOptions, 'client' | 'currencies'>): readonly ChainFinding[] {
  return currencies.flatMap(({ address, decimals: configured }): readonly ChainFinding[] => {
    if (configured === bitcoinDecimals) return []
    const setting = `quote: chains.${client.chainId}.currencies.${address}`
    const problem = `${address} has ${bitcoinDecimals} decimals`
    return [{ kind: 'decimals', setting, value: `${configured}`, said: `${bitcoinDecimals}`, problem }]
  })
}
