import type { OperationExamples } from '@causeway/http'
import type { QuotableChain, QuoteRegistry } from '../pricing/registry.ts'

const account = '0x95dbe89c9cdaaf16e2ba8eb9422fc3e65af384f7'
const bytes32 = (digits: string) => `0x${digits.repeat(32)}`
const signature = `0x${'5a'.repeat(65)}`
const workItem = { id: '00000000-0000-4000-8000-000000000000' }
const wallet = { wallet: account }

/**
 * Operations by which an agent prices, quotes and follows a request. OpenAPI describes them without `$ref`, which agents'
 * tools do not follow.
 */
export const mainOperations: ReadonlySet<string> = new Set([
  'price',
  'quote',
  'quoteV2',
  'listChains',
  'findCurrencies',
  'listTrendingCurrencies',
  'getStatus',
  'getStatusV2',
  'getStatusV3',
  'listRequests',
])

const claimedTransfer = { transactionHash: bytes32('c1'), wallet: account }
const statusRequest = { query: { requestId: bytes32('4d') } }

/** Examples that name no chain. */
const chainlessExamples: OperationExamples = {
  listRequests: { query: { id: bytes32('4d') } },
  findRequests: { query: { id: bytes32('4d') } },
  getDepositAddress: { query: { address: account } },
  listBalanceEvents: { params: wallet, query: { limit: 20 } },
  getStatement: { params: wallet, query: { month: '2026-10', groupBy: 'day,user' } },
  listUsage: { query: { granularity: 'daily' } },
  listAppFeeClaims: { params: wallet, query: { limit: 20 } },
  listClaimableAppFees: { params: wallet },
  executePermit: { query: { signature }, body: { kind: 'eip3009', requestId: bytes32('4d') } },
  getBalances: { params: wallet },
  prepareTopUpClaim: { body: claimedTransfer },
  claimTopUp: { body: { ...claimedTransfer, message: 'The text of the challenge, unchanged', signature } },
  challengeWallet: { body: wallet },
  linkWallet: { body: { ...wallet, nonce: '3f9c2a', signature } },
  listWork: { query: { limit: 50 } },
  reportWork: { params: workItem, body: { txHash: bytes32('c1') } },
  failWork: { params: workItem, body: { reason: 'The fill wallet is empty' } },
  waitWork: { params: workItem, body: { reason: 'The budget of this hour is spent' } },
  getStatus: statusRequest,
  getStatusV2: statusRequest,
  getStatusV3: statusRequest,
  getTimeline: { params: { requestId: bytes32('4d') } },
}

/** One request per operation, for OpenAPI, with chains and currencies that this service has. Accounts and ids are made up. */
export function operationExamples({ chains }: QuoteRegistry): OperationExamples {
  const [origin] = chains
  if (origin === undefined) return {}
  const destination = chains[1] ?? origin
  const { chainId } = origin
  const currency = origin.native.address
  const quote = quoteBetween(origin, destination)
  return {
    ...chainlessExamples,
    ...executionExamples(chainId),
    price: { body: quote },
    quote: { body: quote },
    quoteV2: { body: quote },
    getChainHealth: { query: { chainId } },
    getLiquidity: { query: { chainId } },
    listSwapSources: { query: { chainId } },
    findCurrencies: { body: { chainIds: [chainId], term: origin.native.symbol, limit: 5 } },
    listTrendingCurrencies: { query: { chainId, limit: 5 } },
    getTokenPrice: { query: { address: currency, chainId } },
    getTokenPriceV2: { query: { address: currency, chainId } },
    getConfigV2: { query: { originChainId: chainId, destinationChainId: destination.chainId } },
    reindexDepositAddress: { body: { chainId, depositAddress: account } },
    claimAppFees: { params: wallet, body: { chainId, currency, recipient: account } },
  }
}

/** A tenth of the native currency of one chain for that of another. */
function quoteBetween(origin: QuotableChain, destination: QuotableChain) {
  return {
    user: account,
    recipient: account,
    originChainId: origin.chainId,
    destinationChainId: destination.chainId,
    originCurrency: origin.native.address,
    destinationCurrency: destination.native.address,
    amount: (10n ** BigInt(origin.native.decimals) / 10n).toString(),
    tradeType: 'EXACT_INPUT',
  }
}

/** Operations by which a caller executes a quoted request, or reports its transactions. */
function executionExamples(chainId: number): OperationExamples {
  const requestId = bytes32('4d')
  const txHash = bytes32('c1')
  return {
    submitCalls: {
      body: {
        executionKind: 'rawCalls',
        data: { chainId, to: account, data: '0x', value: '0' },
        requestId,
      },
    },
    authorize: {
      query: { signature },
      body: {
        type: 'nonce-mapping',
        walletChainId: chainId,
        signatureChainId: chainId,
        ...wallet,
        depositor: account,
        nonce: 1_761_563_890_702,
        id: bytes32('4d'),
      },
    },
    indexTransaction: { body: { chainId, txHash, requestId } },
    reportTransaction: { body: { requestId, chainId, tx: JSON.stringify({ txHash }) } },
  }
}
