import { isLighterPayment, lighterCodec } from '@causeway/core/encodings'
import type { HttpView, RpcAnswer } from '@causeway/rpc'
import {
  type ChainClient,
  createHttpQuorumOver,
  createJsonRpcClient,
  type QuorumClient,
  unlessUnreadable,
} from '@causeway/rpc'
import type { AccountLack } from '../../rules/networkFees.ts'
import { agreedAnswer, agreedAnswersOf } from '../../shared/agreedAnswer.ts'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import type { NetworkReaderOptions } from '../../shared/networkReader.ts'
import type { QuotingChain, QuotingChainFamily, UserFacts } from '../../shared/quotingChain.ts'
import { createRecent, recentMs } from '../../shared/recent.ts'
import type { RegisteredChain } from '../../shared/registeredChain.ts'
import { lighterNetworkOf } from '../reading/networks.ts'
import { explorersOf, lighterEndpoints } from '../reading/openLighterChain.ts'
import { verifyLighterEndpoints, verifyLocalLighterEndpoints } from '../reading/verifyEndpoints.ts'
import {
  accountCall,
  assetsCall,
  hasAccount,
  lighterHeadTracking,
  parseAssets,
  parseHoldings,
  parseSeconds,
  statusCall,
} from './calls.ts'
import { createLighterNetworkReader } from './feeReader.ts'

const lacksNothing: AccountLack = {}
/** Time that a start waits for a chain. */
const checkTimeoutMs = 5_000
/** An endpoint whose time is further behind the others' is not asked; each tells whole seconds by its own clock. */
const lagSecondsMax = 30

/** A client of the exchange, and beside it the explorers, if there are any, which list transfers of accounts. */
export type LighterClient = ChainClient & { readonly explorers: QuorumClient<HttpView> | undefined }

/** The explorers that `connectLighter` put beside a client. @throws Error for a client of another family */
export function explorersBeside(client: ChainClient): QuorumClient<HttpView> | undefined {
  if (!isOwn(client)) throw new Error('a client of another family')
  return client.explorers
}

const isOwn = (client: ChainClient): client is LighterClient => 'explorers' in client

/** The live part of quoting on Lighter: facts of accounts on which enough endpoints of the exchange agree. */
export const lighterQuotingChain: QuotingChainFamily = {
  connect: connectLighter,
  headSeconds: async (client) => Number(parseSeconds((await client.batch([statusCall]))[0])),
  open({ client, budgetMs, neededWithinMs, now, onFailure }): QuotingChain {
    const recent = {
      // Accounts of the exchange are never removed.
      lacks: createRecent<AccountLack>(now, {
        forMs: (lack) => (lack === lacksNothing ? Number.POSITIVE_INFINITY : recentMs.changing),
      }),
      amounts: createRecent<bigint>(now),
    }
    const agreed = agreedAnswersOf(client, onFailure)
    /** Balance of perps USDC: other assets are not read, because their decimals are not known here. */
    const balanceOf = (user: string) =>
      recent.amounts(user, () =>
        agreed(
          accountCall(user),
          (answer) => parseHoldings(answer, user, () => undefined)?.get(lighterCodec.nativeCurrency) ?? 0n,
          budgetMs,
        ),
      )

    return {
      async userFacts({ user, currency, touched = [] }): Promise<UserFacts> {
        // `held` is empty: no cost on this family depends on other balances, so `touched` names none.
        const held = touched.map(() => undefined)
        // The user is not chosen yet, or the currency's balance is not read.
        if (!lighterCodec.isAddress(user) || currency !== lighterCodec.nativeCurrency) return { held }
        const balance = await balanceOf(user)
        return { held, ...(balance !== undefined && { balance }) }
      },
      // The address of nobody, for which clients ask prices, is no account and counts as one that lacks nothing.
      lackOf: (account) =>
        recent.lacks(account, () =>
          lighterCodec.isAddress(account)
            ? agreed(
                accountCall(account),
                (answer): AccountLack => (hasAccount(answer, account) ? lacksNothing : { isUnpayable: true }),
                neededWithinMs,
              )
            : Promise.resolve(lacksNothing),
        ),
      // Accounts of the exchange have no code, and no calls are run.
      hasCode: async () => false,
      unitsOfCalls: undefined,
    }
  },
  network: { reader: createLighterNetworkReader, contradictions },
}

/** Endpoints of the exchange, asked by paths. @throws ConfigurationError for endpoints that are no URLs */
function connectLighter(chain: RegisteredChain): LighterClient {
  const { id, rpcThreshold } = chain
  const client = createJsonRpcClient({
    chainId: id,
    endpoints: lighterEndpoints(chain),
    threshold: rpcThreshold,
    headTracking: lighterHeadTracking,
    wire: 'paths',
    lagBlocksMax: lagSecondsMax,
  })
  const explorers = explorersOf(chain)
  return {
    ...client,
    explorers,
    observe(observerOf) {
      client.observe(observerOf)
      explorers?.observe(observerOf)
    },
    async close() {
      await Promise.all([client.close(), explorers?.close()])
    },
  }
}

/** Endpoints of another network, depositories that are no accounts, and assets of other decimals. */
async function contradictions(
  options: NetworkReaderOptions & { readonly isLocal: boolean },
): Promise<readonly ChainFinding[]> {
  const { client, network: name, depository, isLocal } = options
  const quorum = createHttpQuorumOver(client, (view) => view)
  const signal = AbortSignal.timeout(checkTimeoutMs)
  const network = lighterNetworkOf({ id: client.chainId, network: name })
  const [problems, publicEndpoints, wrongCurrencies] = await Promise.all([
    verifyLighterEndpoints({ quorum, network, depositories: [depository] }, signal),
    isLocal ? verifyLocalLighterEndpoints(quorum, signal) : [],
    findWrongCurrencies(options),
  ])
  const setting = `chains: ${client.chainId}.httpRpcUrl`
  const networkFindings = [...problems, ...publicEndpoints].map((problem): ChainFinding => {
    return { kind: 'network', setting, value: name ?? 'mainnet', said: 'something else', problem }
  })
  return [...networkFindings, ...wrongCurrencies]
}

/** Currencies that cannot be attested as payments, and those with wrong decimals. */
async function findWrongCurrencies({
  client,
  currencies,
}: NetworkReaderOptions): Promise<readonly ChainFinding[]> {
  const read = (answer: RpcAnswer | undefined) => unlessUnreadable(() => [...parseAssets(answer)])
  const assetDecimals = new Map(await agreedAnswer(client, assetsCall, read, checkTimeoutMs))
  return currencies.flatMap(({ address, decimals }): readonly ChainFinding[] => {
    const setting = `quote: chains.${client.chainId}.currencies.${address}`
    if (!isLighterPayment(address)) {
      const problem = `no transfer of asset ${address} is attested as a payment`
      return [{ kind: 'contract', setting, value: address, said: 'not payable', problem }]
    }
    const actualDecimals = assetDecimals.get(address === lighterCodec.nativeCurrency ? usdcAsset : address)
    if (actualDecimals === decimals) return []
    const problem =
      actualDecimals === undefined
        ? `there is no asset ${address}`
        : `${address} has ${actualDecimals} decimals`
    return [
      { kind: 'decimals', setting, value: `${decimals}`, said: `${actualDecimals ?? 'no asset'}`, problem },
    ]
  })
}

/** Index of USDC, whose perps balance is the native currency. */
const usdcAsset = '3'
