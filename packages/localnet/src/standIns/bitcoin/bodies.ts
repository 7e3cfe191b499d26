import type { StoredBody } from '../bodies/index.ts'

/** The block of a transaction. */
type Confirmed = { readonly height: number; readonly hash: string; readonly timeSeconds: number }

const core = 'Bitcoin Core 29, RPC documentation; a real node answers in bitcoind/nodeFacts.live.ts'
const esplora = '@mempool/mempool.js 3.0.0'

const statusOf = (block: Confirmed | undefined) =>
  block === undefined
    ? { confirmed: false }
    : {
        confirmed: true,
        block_height: block.height,
        block_hash: block.hash,
        block_time: block.timeSeconds,
      }

/**
 * Bodies of bitcoind and of Esplora, which the stand-in answers and tests of the reader use. Amounts of unspent
 * outputs are constants, since readers take them from the transactions' bytes.
 */
export const bitcoinBodies = {
  rawTransaction: {
    provenance: 'specified',
    source: `${core}, getrawtransaction`,
    proves: ['a node tells the block of a transaction and its bytes'],
    body: (
      txid: string,
      hex: string,
      block: (Confirmed & { readonly confirmations: number }) | undefined,
    ) => ({
      txid,
      hex,
      ...(block !== undefined && {
        blockhash: block.hash,
        confirmations: block.confirmations,
        blocktime: block.timeSeconds,
      }),
    }),
  },
  header: {
    provenance: 'specified',
    source: `${core}, getblockheader`,
    proves: ['a block that was replaced has a negative number of confirmations'],
    body: ({ hash, height, timeSeconds, confirmations }: Confirmed & { readonly confirmations: number }) => ({
      hash,
      confirmations,
      height,
      time: timeSeconds,
    }),
  },
  unspent: {
    provenance: 'specified',
    source: `${core}, gettxout`,
    proves: ['an output that is unspent in blocks is told, another is null'],
    body: (
      bestBlock: string | undefined,
      place: { readonly confirmations: number; readonly coinbase: boolean },
    ) => ({ bestblock: bestBlock, value: 0.5, ...place }),
  },
  chainInfo: {
    provenance: 'specified',
    source: `${core}, getblockchaininfo`,
    proves: ['a node tells the height and the time of its newest block'],
    body: (blocks: number, time: number) => ({ chain: 'regtest', blocks, time }),
  },
  feeEstimate: {
    provenance: 'specified',
    source: `${core}, estimatesmartfee`,
    proves: ['a node without an estimate says why, and names no feerate'],
    body: (satPerKvb: number | undefined) => ({
      blocks: 2,
      ...(satPerKvb === undefined
        ? { errors: ['Insufficient data or no feerate found'] }
        : { feerate: satPerKvb / 100_000_000 }),
    }),
  },
  mempoolInfo: {
    provenance: 'specified',
    source: `${core}, getmempoolinfo`,
    proves: ['a node tells what it relays for at least'],
    body: () => ({ loaded: true, size: 0, mempoolminfee: 0.00001, minrelaytxfee: 0.00001 }),
  },
  scan: {
    provenance: 'specified',
    source: `${core}, scantxoutset`,
    proves: ['a scan names the unspent outputs of an address'],
    body: (outputs: readonly { readonly txid: string; readonly vout: number }[]) => ({
      success: true,
      unspents: outputs.map(({ txid, vout }) => ({ txid, vout, amount: 0.5 })),
    }),
  },
  refusedTransaction: {
    provenance: 'specified',
    source: `${core}, sendrawtransaction: RPC_VERIFY_REJECTED`,
    proves: ['a node says why it does not take a transaction'],
    body: (message: string) => ({ code: -26, message }),
  },
  addressOutputs: {
    provenance: 'specified',
    source: `${esplora}, AddressTxsUtxo`,
    proves: ['an API names the unspent outputs of an address, and which of them a block has'],
    body: (
      outputs: readonly {
        readonly txid: string
        readonly vout: number
        readonly block: Confirmed | undefined
      }[],
    ) => outputs.map(({ txid, vout, block }) => ({ txid, vout, value: 1, status: statusOf(block) })),
  },
  addressTransactions: {
    provenance: 'specified',
    source: `${esplora}, AddressTxsChain`,
    proves: ['an API pages the transactions of an address: what each spends, and pays it'],
    body: (
      address: string,
      listed: readonly {
        readonly txid: string
        readonly spends?: { readonly txid: string; readonly vout: number }
        readonly value?: number
      }[],
    ) =>
      listed.map(({ txid, spends, value }) => ({
        txid,
        vin: spends === undefined ? [] : [spends],
        vout: value === undefined ? [] : [{ scriptpubkey_address: address, value }],
      })),
  },
  refusedText: {
    provenance: 'constructed',
    source: 'words of Esplora around those of its node',
    proves: ['an API says with status 400 why its node does not take a transaction'],
    body: (message: string) => `sendrawtransaction RPC error: {"code":-26,"message":"${message}"}`,
  },
  refusals: {
    provenance: 'specified',
    source: `${core}: codes of rpc/protocol.h`,
    proves: ['a refusal with code -5 or -8 means that there is no such thing'],
    body: {
      heightOutOfRange: { code: -8, message: 'Block height out of range' },
      noBlock: { code: -5, message: 'Block not found' },
      noTransaction: {
        code: -5,
        message: 'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.',
      },
      noMethod: { code: -32_601, message: 'Method not found' },
    },
  },
  withoutIndex: {
    provenance: 'constructed',
    source: 'words of Bitcoin Core 29 for a node without a whole transaction index',
    proves: ['a node that cannot know every transaction does not say that one is missing'],
    body: ['No such mempool transaction. Use -txindex', 'still being indexed'],
  },
  refusedWith500: {
    provenance: 'constructed',
    source: 'how nodes before version 28 answer a single call',
    proves: ['a refused call is read from HTTP 500 too'],
    body: (id: unknown, error: { readonly code: number; readonly message: string }) => ({
      result: null,
      error,
      id,
    }),
  },
  emptyResult: {
    provenance: 'constructed',
    source: 'the envelope of JSON-RPC 1.0 around nothing',
    proves: ['a result of another shape is no answer'],
    body: { result: {}, error: null },
  },
  status: {
    provenance: 'specified',
    source: `${esplora}, TxStatus`,
    proves: ['an API tells the block of a transaction'],
    body: statusOf,
  },
  outspend: {
    provenance: 'specified',
    source: `${esplora}, TxOutspend`,
    proves: ['an API tells what spent an output, and whether in a block'],
    body: (spender: { readonly txid: string; readonly block: Confirmed | undefined } | undefined) =>
      spender === undefined
        ? { spent: false }
        : { spent: true, txid: spender.txid, vin: 0, status: statusOf(spender.block) },
  },
  missing: {
    provenance: 'constructed',
    source: 'words of Esplora for what it does not know',
    proves: ['status 404 of an API means that there is no such thing'],
    body: { any: 'Not found', transaction: 'Transaction not found' },
  },
  brokenOutspends: {
    provenance: 'constructed',
    source: 'an answer about an output, spoilt',
    proves: ['an API that lies about a spender cannot execute or expire a withdrawal'],
    body: (txid: string) => [
      { spent: false },
      { spent: true, txid, status: { confirmed: true } },
      { spent: true, txid: 'nothing', status: { confirmed: true } },
      { spent: 'yes' },
      null,
    ],
  },
  token: {
    provenance: 'constructed',
    source: 'RFC 6749 5.1, client credentials; no provider was asked',
    proves: ['a provider of tokens answers with access_token and expires_in'],
    body: (token: string) => JSON.stringify({ access_token: token, expires_in: 300 }),
  },
  brokenTokens: {
    provenance: 'constructed',
    source: 'an answer of a provider, spoilt',
    proves: ['without a token an endpoint stays silent'],
    body: { refused: '{"error":"no"}', withoutToken: '{"expires_in":300}' },
  },
} satisfies Readonly<Record<string, StoredBody>>
