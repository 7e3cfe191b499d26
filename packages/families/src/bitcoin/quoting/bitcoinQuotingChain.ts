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
/** Limit of cached outputs: an outpoint's value and script never change. */
const outputsMax = 20_000
/** Characters of a cached output's transaction; an output with more counts as several. */
const charactersEach = 4_096
/** Time that a start waits for a chain. */
const checkTimeoutMs = 5_000

/**
 * The live part of quoting on Bitcoin. Of an account, a quote needs only the outputs that it can spend.
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
        // The native sentinel stands for a user who is not chosen yet, and has no outputs.
        if (!isAddress(user)) return {}
        const facts = await recent(user, async () => {
          try {
            const ownAddress = { address: user, network }
            // Without them no step can be made, so they may take as long as what a price needs.
            const spendable = await readOwnOutputs(cachedClient, ownAddress, {
              timeoutMs: neededWithinMs,
              known: outputCache,
              askUnspent,
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
      // Spending conditions of an output are fixed when it is made: no foreign code decides about a payment.
      hasCode: async () => false,
      unitsOfCalls: undefined,
    }
  },
  network: { reader: createBitcoinNetworkReader, contradictions },
}

/** Cache entries that an output counts as. */
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

/** Endpoints of another network, and currencies with wrong decimals. @throws upstream errors */
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
    // Locally every endpoint must answer: a silent one throws here. Foreign ones are found below, so their words are
    // empty.
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
  const wrongDecimals = currencies.flatMap(({ address, decimals: configured }): readonly ChainFinding[] => {
    if (configured === decimals) return []
    const setting = `quote: chains.${client.chainId}.currencies.${address}`
    const problem = `${address} has ${decimals} decimals`
    return [{ kind: 'decimals', setting, value: `${configured}`, said: `${decimals}`, problem }]
  })
  return [...foreign, ...wrongDecimals]
}
