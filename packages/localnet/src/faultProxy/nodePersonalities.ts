import type { NodeAnswer, NodePersonality } from './nodePersonality.ts'

const alchemy = 'https://www.alchemy.com/docs/reference'
const agave = 'https://docs.rs/crate/solana-rpc-client-api/latest/source/src/custom_error.rs'
const getLogs = /^eth_getLogs$/
const stateReads = /^eth_(call|getBalance|getCode|getStorageAt|getTransactionCount)$/

const tooMany: NodeAnswer = {
  kind: 'page',
  status: 429,
  type: 'text/html',
  body: '<html><head><title>429 Too Many Requests</title></head><body><h1>Rate limited</h1></body></html>',
}

/** Behaviours of hosted nodes by the name that `npm start -- --endpoints` takes. */
export const nodePersonalities = {
  'log-range-10': {
    family: 'ethereum',
    source: `${alchemy}/eth-getlogs`,
    calls: getLogs,
    when: { kind: 'logRange', above: 10 },
    answer: {
      kind: 'error',
      status: 400,
      code: -32_600,
      message:
        'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [{from}, {last}].',
    },
  },
  'log-range-500': {
    family: 'ethereum',
    source: 'https://github.com/risc0/risc0-ethereum/pull/656',
    calls: getLogs,
    when: { kind: 'logRange', above: 500 },
    answer: {
      kind: 'error',
      status: 400,
      code: -32_600,
      message:
        'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [{from}, {last}]',
    },
  },
  'log-range-2000': {
    family: 'ethereum',
    source: 'https://github.com/bancorprotocol/webapp/issues/523',
    calls: getLogs,
    when: { kind: 'logRange', above: 2_000 },
    answer: {
      kind: 'error',
      code: -32_602,
      message:
        'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range. Based on your parameters, this block range should work: [{from}, {last}]',
    },
  },
  'log-entries-10000': {
    family: 'ethereum',
    source: 'https://docs.infura.io/reference/ethereum/json-rpc-methods/eth_getlogs/#constraints',
    calls: getLogs,
    when: { kind: 'entries', above: 10_000 },
    answer: { kind: 'error', code: -32_005, message: 'query returned more than 10000 results' },
  },
  'batch-3': {
    family: 'ethereum',
    source: 'https://github.com/AmbireTech/ambire-common',
    when: { kind: 'batch', above: 3 },
    answer: {
      kind: 'error',
      status: 500,
      code: 31,
      message:
        'Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account at drpc.org',
    },
  },
  'batch-10': {
    family: 'ethereum',
    source: 'https://docs.base.org/base-chain/quickstart/connecting-to-base',
    when: { kind: 'batch', above: 10 },
    answer: { kind: 'error', code: -32_014, message: 'maximum 10 calls in 1 batch' },
  },
  'batch-100': {
    family: 'ethereum',
    source: 'https://geth.ethereum.org/docs/fundamentals/command-line-options',
    when: { kind: 'batch', above: 100 },
    answer: { kind: 'error', code: -32_600, message: 'batch too large' },
  },
  'batch-none': {
    family: 'ethereum',
    source: 'https://docs.rs/jsonrpsee-types/latest/jsonrpsee_types/error',
    when: { kind: 'batch', above: 1 },
    answer: { kind: 'error', code: -32_005, message: 'Batched requests are not supported by this server' },
  },
  'rate-json': {
    family: 'ethereum',
    source: 'https://www.quicknode.com/docs/ethereum/error-references',
    when: { kind: 'rate', above: 15 },
    answer: {
      kind: 'error',
      status: 429,
      code: -32_007,
      message:
        '15/second request limit reached - reduce calls per second or upgrade your account at quicknode.com',
    },
  },
  'rate-html': {
    family: 'ethereum',
    source:
      'https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/error-1015/',
    when: { kind: 'rate', above: 15 },
    answer: tooMany,
  },
  'rate-retry-after': {
    family: 'ethereum',
    source: `${alchemy}/throughput`,
    when: { kind: 'rate', above: 15 },
    answer: {
      kind: 'error',
      status: 429,
      code: 429,
      headers: { 'retry-after': '1' },
      message: 'Your app has exceeded its compute units per second capacity.',
    },
  },
  'late-logs': {
    family: 'ethereum',
    source: 'https://github.com/erigontech/erigon/issues/17624',
    calls: getLogs,
    when: { kind: 'always' },
    answer: { kind: 'late', ms: 3_000 },
  },
  'late-receipts': {
    family: 'ethereum',
    source: 'https://github.com/filecoin-project/lotus/issues/13758',
    calls: /^eth_getTransactionReceipt$/,
    when: { kind: 'always' },
    answer: { kind: 'late', ms: 3_000 },
  },
  pruned: {
    family: 'ethereum',
    source: 'https://geth.ethereum.org/docs/fundamentals/sync-modes',
    calls: stateReads,
    when: { kind: 'stateAge', above: 127 },
    answer: { kind: 'error', code: -32_000, message: 'missing trie node (path ) state is not available' },
  },
  balancer: {
    family: 'ethereum',
    source: 'https://github.com/bobanetwork/boba_legacy/issues/239',
    when: { kind: 'always' },
    answer: { kind: 'behind', blocks: [0, 2, 1, 3] },
  },
  'error-200': {
    family: 'ethereum',
    source: 'https://github.com/erpc/erpc',
    when: { kind: 'every', request: 4 },
    answer: { kind: 'error', code: -32_603, message: 'http request handling timeout' },
  },
  'empty-logs': {
    family: 'ethereum',
    source: 'https://github.com/privacy-ethereum/zkevm-chain/pull/88',
    calls: getLogs,
    when: { kind: 'every', request: 2 },
    answer: { kind: 'empty' },
  },
  'long-answers': {
    family: 'ethereum',
    source: 'unconfirmed',
    calls: getLogs,
    when: { kind: 'every', request: 3 },
    answer: { kind: 'long', bytes: 100_000_000 },
  },
  'block-object': {
    family: 'ethereum',
    source: 'unconfirmed',
    when: { kind: 'blockObject' },
    answer: {
      kind: 'error',
      code: -32_602,
      message: 'invalid argument 1: json: cannot unmarshal object into Go value of type string',
    },
  },
  'body-413': {
    family: 'ethereum',
    source: 'unconfirmed',
    when: { kind: 'bodyBytes', above: 2_000 },
    answer: { kind: 'page', status: 413, type: 'text/plain', body: 'Request Entity Too Large' },
  },
  'solana-versions': {
    family: 'solana',
    source: agave,
    calls: /^get(Transaction|Block)$/,
    when: { kind: 'versionBelow', version: 1 },
    answer: {
      kind: 'error',
      code: -32_015,
      message: 'Transaction version (1) is not supported by the requesting client.',
    },
  },
  'solana-skipped': {
    family: 'solana',
    source: agave,
    calls: /^getBlock$/,
    when: { kind: 'every', request: 5 },
    answer: {
      kind: 'error',
      code: -32_009,
      message: 'Slot was skipped, or missing in long-term storage',
    },
  },
  'solana-jumped': {
    family: 'solana',
    source: agave,
    calls: /^getBlock$/,
    when: { kind: 'every', request: 5 },
    answer: {
      kind: 'error',
      code: -32_007,
      message: 'Slot was skipped, or missing due to ledger jump to recent snapshot',
    },
  },
  'solana-behind': {
    family: 'solana',
    source: agave,
    when: { kind: 'every', request: 4 },
    answer: { kind: 'error', code: -32_005, message: 'Node is behind by 42 slots' },
  },
  'solana-late-lists': {
    family: 'solana',
    source: 'unconfirmed',
    calls: /^getSignaturesForAddress$/,
    when: { kind: 'always' },
    answer: { kind: 'late', ms: 3_000 },
  },
  'bitcoin-history': {
    family: 'bitcoin',
    source: 'https://github.com/Blockstream/esplora/issues/282',
    calls: /\/address\/[^/]+\/utxo$/,
    when: { kind: 'always' },
    answer: { kind: 'page', status: 400, type: 'text/plain', body: 'Too many history entries' },
  },
  'bitcoin-rate': {
    family: 'bitcoin',
    source: 'unconfirmed',
    when: { kind: 'rate', above: 4 },
    answer: tooMany,
  },
  'tron-rate': {
    family: 'tron',
    source: 'https://developers.tron.network/reference-link/rate-limits',
    when: { kind: 'rate', above: 15 },
    answer: {
      kind: 'page',
      status: 403,
      type: 'application/json',
      body: '{"Error":"The key exceeds the frequency limit(15), and the query server is suspended for 1s"}',
    },
  },
  'hyperliquid-rate': {
    family: 'hyperliquid',
    source: 'unconfirmed',
    when: { kind: 'rate', above: 10 },
    answer: { kind: 'page', status: 429, type: 'application/json', body: 'null' },
  },
  'hyperliquid-hash': {
    family: 'hyperliquid',
    source: 'unconfirmed',
    calls: /^txDetails$/,
    when: { kind: 'every', request: 2 },
    answer: {
      kind: 'page',
      status: 200,
      type: 'application/json',
      body: '{"type":"error","message":"More than 100 archived blocks queried in one day"}',
    },
  },
  'lighter-rate': {
    family: 'lighter',
    source: 'https://apidocs.lighter.xyz/docs/rate-limits',
    when: { kind: 'rate', above: 10 },
    answer: {
      kind: 'page',
      status: 429,
      type: 'application/json',
      body: '{"code":23000,"message":"Too Many Requests!"}',
    },
  },
} satisfies Readonly<Record<string, NodePersonality>>

export type PersonalityName = keyof typeof nodePersonalities

export const isPersonalityName = (name: string): name is PersonalityName =>
  Object.hasOwn(nodePersonalities, name)
