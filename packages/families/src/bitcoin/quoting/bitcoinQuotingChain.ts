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
import type { AccountLack, SpendableOutput } from '../../rules/quotingFamily.ts'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import type { NetworkReaderOptions } from '../../shared/networkReader.ts'
import type { QuotingChain, QuotingChainFamily, UserFacts } from '../../shared/quotingChain.ts'
import { createRecent, recentMs } from '../../shared/recent.ts'
import { createBitcoindView } from '../reading/bitcoindView.ts'
import { firstBlocks, firstBlocksOf } from '../reading/openBitcoinChain.ts'
import { connectBitcoin } from './connectBitcoin.ts'
import { createBitcoinNetworkReader } from './feeReader.ts'
import { readOwnOutputs } from './ownOutputs.ts'
import { createUnspentGroups } from './unspentGroups.ts'

const lacksNothing: AccountLack = {}
const decimals = 8
/** Outputs whose bytes are remembered: what an id and a number name never changes. */
const outputsMax = 20_000
/** Characters of a transaction beside them; one that has more counts as several. */
const charactersEach = 4_096
/** A start waits so long for a chain. */
const checkTimeoutMs = 5_000

/**
 * Quoting on Bitcoin. A quote depends only on the outputs that the user can spend, and on nothing else of an account.
 */
export const bitcoinQuotingChain: QuotingChainFamily = {
  connect: connectBitcoin,
  open({ client, network: name, neededWithinMs, now, onFailure }): QuotingChain {
    const network = bitcoinNetworkOf(name)
    const { isAddress } = createBitcoinCodec(network)
    const recent = createRecent<UserFacts>(now, {
      weightOf: ({ spendable = [] }) => spendable.reduce((sum, output) => sum + weightOf(output), 0),
    })
    const cachedClient = rememberingNames(client, now)
    const outputCache = createLruCache<SpendableOutput>(outputsMax, weightOf)
    const askUnspent = createUnspentGroups(client)
    return {
      async userFacts({ user }) {
        // Nobody yet, or what stands for nobody on another network.
        if (!isAddress(user)) return {}
        const facts = await recent(user, async () => {
          try {
            const ownAddress = { address: user, network }
            // No step can be made without them, so they may take as long as what a price needs.
            const spendable = await readOwnOutputs(cachedClient, ownAddress, {
              ...{ timeoutMs: neededWithinMs, known: outputCache, askUnspent },
            })
            return { spendable, balance: spendable.reduce((sum, { value }) => sum + value, 0n) }
          } catch (error) {
            if (error instanceof AddressRefusedError) return { refusal: error }
            onFailure(error)
            return undefined
          }
        })
        return facts ?? {}
      },
      lackOf: async () => lacksNothing,
      // The conditions for spending an output are fixed when it is paid, so no foreign code decides later.
      hasCode: async () => false,
      unitsOfCalls: undefined,
    }
  },
  network: { reader: createBitcoinNetworkReader, contradictions },
}

const weightOf = ({ transaction = '0x' }: SpendableOutput): number =>
  Math.ceil(transaction.length / charactersEach)

/**
 * Caches the lists of an address's outputs: they change only with blocks, minutes apart. Nodes are still asked each
 * time whether the outputs are unspent.
 */
function rememberingNames(client: ChainClient, now: () => number): ChainClient {
  const { nameOutputs } = client
  if (nameOutputs === undefined) return client
  const recent = createRecent<readonly NamedOutput[] | AddressRefusedError>(now, { forMs: recentMs.steady })
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
      return outputs ?? Promise.reject(failure ?? new UpstreamUnavailableError('Nobody named the outputs.'))
    },
  }
}

const readFirstBlock = (view: EndpointView, signal: AbortSignal) =>
  createBitcoindView(view).readBlockHash(0n, signal)

/** Endpoints of another network, and currencies that there are not. @throws upstream errors */
async function contradictions({
  client,
  network,
  currencies,
  isLocal,
}: NetworkReaderOptions & { readonly isLocal: boolean }): Promise<readonly ChainFinding[]> {
  const quorum = createQuorumOver(client, { now: () => Date.now() })
  const signal = AbortSignal.timeout(checkTimeoutMs)
  const networkBlocks = isLocal ? firstBlocks.regtest : firstBlocksOf({ network })
  const [answered] = await Promise.all([
    askEnough(quorum, readFirstBlock, signal),
    // A foreign endpoint is found below; a silent one is waited for.
    isLocal
      ? verifyLocalEndpoints(
          quorum,
          readFirstBlock,
          (blockHash) => (networkBlocks.includes(blockHash) ? undefined : ''),
          signal,
        )
      : [],
  ])
  const foreign = answered.flatMap(({ alias, said: blockHash }): readonly ChainFinding[] => {
    if (networkBlocks.includes(blockHash)) return []
    const problem = `endpoint ${alias} is on another network`
    return [
      {
        kind: 'network',
        setting: `chains: ${client.chainId}.httpRpcUrl`,
        value: network ?? 'mainnet',
        said: blockHash,
        problem,
      },
    ]
  })
  const odd = currencies.flatMap(({ address, decimals: configured }): readonly ChainFinding[] => {
    if (configured === decimals) return []
    const setting = `quote: chains.${client.chainId}.currencies.${address}`
    const problem = `${address} has ${decimals} decimals`
    return [{ kind: 'decimals', setting, value: `${configured}`, said: `${decimals}`, problem }]
  })
  return [...foreign, ...odd]
}
