// Goal: stand-ins of Tron, Hyperliquid and Esplora answer in the types that others publish for the real
// services. Method: questions over HTTP, as readers put them; the TypeScript compiler gives each answer the
// type of tronweb, @nktkas/hyperliquid and @mempool/mempool.js. Lighter has a schema and a test of its own.

import type { Hex } from '@causeway/core'
import { encodeDepositNative, encodeTransfer } from '@causeway/families/rules'
import { ConstructedChain, startBitcoinNode } from '@causeway/localnet/standIns/bitcoin'
import {
  createHyperliquidVenue,
  hyperliquidBodies,
  type ListedTransaction,
  startExchange,
} from '@causeway/localnet/standIns/hyperliquid'
import { Transaction } from 'bitcoinjs-lib'
import { expect, onTestFinished, test } from 'vitest'
import { judgeTypes, type SeenAnswer } from './schemaSupport/judgeTypes.ts'
import { startTronBed } from './tronSupport/tronBed.ts'

const account = (byte: string): Hex => `0x${byte.repeat(20)}`
const hashOf = (byte: string): Hex => `0x${byte.repeat(32)}`

async function post(url: string, type: SeenAnswer['type'], body: object): Promise<SeenAnswer> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  return { type, text: await response.text() }
}

function expectTypes(answers: readonly SeenAnswer[]): void {
  const problems = judgeTypes(answers).map((found, index) => [answers[index]?.text, ...found])
  expect(problems.filter((found) => found.length > 1)).toEqual([])
}

test('Hyperliquid: tokens, roles, ledgers and transactions of every kind', async () => {
  const [user, destination] = [account('51'), account('d1')]
  const send = { destination, amount: '12.5', hyperliquidChain: 'Mainnet' }
  const asset = {
    sourceDex: 'spot',
    destinationDex: '',
    fromSubAccount: '',
    token: `HYPE:0x${'0d'.repeat(16)}`,
  }
  const actions: readonly ListedTransaction['action'][] = [
    { ...send, type: 'UsdSend', time: 5n },
    { ...send, ...asset, type: 'SendAsset', nonce: 6n },
    { type: 'order' },
  ]
  const listed = actions.map((action, index) => ({
    hash: hashOf(`a${index}`),
    user,
    timeMs: 1_000 + index,
    action,
  }))
  const failed = {
    hash: hashOf('af'),
    user,
    timeMs: 2_000,
    action: { type: 'order' },
    error: hyperliquidBodies.failure.body,
  }
  const exchange = await startExchange({
    transactions: [...listed, failed],
    tokens: [{ name: 'HYPE', tokenId: `0x${'0d'.repeat(16)}`, szDecimals: 2 }],
    accounts: new Set([user]),
    recentMax: 50,
  })
  onTestFinished(() => exchange.stop())
  const info = (type: SeenAnswer['type'], more: object = {}) =>
    post(`${exchange.url}/info`, type, { type, ...more })
  const explorer = (type: SeenAnswer['type'], more: object) =>
    post(`${exchange.url}/explorer`, type, { type, ...more })
  const answers = await Promise.all([
    info('spotMeta'),
    info('userRole', { user }),
    info('userRole', { user: account('99') }),
    info('userNonFundingLedgerUpdates', { user, startTime: 0, endTime: 9_999 }),
    explorer('userDetails', { user }),
    ...[...listed, failed].map(({ hash }) => explorer('txDetails', { hash })),
  ])
  expect(answers[3]?.text).toMatch(/internalTransfer.*"send"/)
  expectTypes(answers)
})

test('Hyperliquid: its time, what accounts hold and take, and what it says of transfers', async () => {
  const [user, token] = [account('51'), { name: 'USDC', tokenId: `0x${'0d'.repeat(16)}`, szDecimals: 8 }]
  const ledger = { transactions: [], tokens: [token], accounts: new Set<string>() }
  const venue = createHyperliquidVenue(ledger)
  venue.fund(user, { '': 500_000_000n, [token.tokenId]: 7n })
  const exchange = await startExchange({ ...ledger, venue, recentMax: 50 })
  onTestFinished(() => exchange.stop())
  const info = (type: SeenAnswer['type'], more: object = {}) =>
    post(`${exchange.url}/info`, type, { type, ...more })
  const answers = await Promise.all([
    info('exchangeStatus'),
    info('preTransferCheck', { user, source: account('52') }),
    info('preTransferCheck', { user: account('99'), source: account('52') }),
    info('clearinghouseState', { user }),
    info('spotClearinghouseState', { user }),
    info('userAbstraction', { user }),
    post(`${exchange.url}/exchange`, 'sendAsset', { action: { type: 'sendAsset', nonce: 1 }, nonce: 2 }),
    { type: 'sendAsset' as const, text: JSON.stringify(hyperliquidBodies.taken.body) },
  ])
  expect(answers.map(({ text }) => text).join()).toMatch(
    /"withdrawable":"5\.0*".*"coin":"USDC".*"status":"err"/s,
  )
  expectTypes(answers)
})

test('Esplora: where a transaction is and what spent an output', async () => {
  const chain = new ConstructedChain()
  const [mined, spending, waiting] = [new Transaction(), new Transaction(), new Transaction()]
  mined.addInput(Buffer.alloc(32, 1), 0)
  for (const value of [5n, 6n, 7n]) mined.addOutput(Buffer.from('51', 'hex'), value)
  spending.addInput(mined.getHash(), 0)
  waiting.addInput(mined.getHash(), 1)
  for (const one of [spending, waiting]) one.addOutput(Buffer.from('51', 'hex'), 1n)
  chain.mine(mined)
  chain.mine(spending)
  chain.announce(waiting)
  const node = await startBitcoinNode(chain)
  onTestFinished(() => node.stop())
  const get = async (type: SeenAnswer['type'], transaction: Transaction, rest: string) => {
    const response = await fetch(`${node.url('esplora')}/tx/${transaction.getId()}/${rest}`)
    return { type, text: await response.text() }
  }
  const answers = await Promise.all([
    get('status', mined, 'status'),
    get('status', waiting, 'status'),
    ...[0, 1, 2].map((vout) => get('outspend', mined, `outspend/${vout}`)),
  ])
  expect(answers.map(({ text }) => /"(spent|confirmed)":(true|false)/g.exec(text)?.[2])).toEqual([
    ...['true', 'false', 'true', 'true', 'false'],
  ])
  expectTypes(answers)
})

test('Tron: blocks, transactions, what they did and a constant call', async () => {
  const bed = await startTronBed()
  onTestFinished(() => bed.stop())
  const { depository, tokens } = bed.evm.deployment
  const call = (to: Hex, data: Hex, callValue = 0n) =>
    bed.ledger.submit(bed.user, { kind: 'trigger', to, data, callValue })
  const submitted = [
    await bed.ledger.submit(bed.user, { kind: 'transfer', to: account('11'), amount: 5n }, '0xabcd'),
    await call(tokens.USDC, encodeTransfer(account('11'), 5n)),
    await call(depository, encodeDepositNative(bed.user.address, hashOf('ab')), 7n),
    await bed.ledger.submit(bed.user, { kind: 'transferAsset', to: account('11'), amount: 5n }),
  ]
  await bed.evm.mine(3)
  const ask = (type: SeenAnswer['type'], body: object) =>
    post(`${bed.facade.url}/walletsolidity/${type}`, type, body)
  const number = Number(Object(JSON.parse((await ask('getblock', {})).text)).block_header.raw_data.number)
  const answers = await Promise.all([
    ask('getblock', {}),
    ask('getblock', { id_or_num: '0', detail: false }),
    ask('gettransactioninfobyblocknum', { num: number - 1 }),
    ...submitted.flatMap(({ transactionId: value }) => [
      ask('gettransactionbyid', { value }),
      ask('gettransactioninfobyid', { value }),
    ]),
    ask('gettransactionbyid', { value: 'ab'.repeat(32) }),
    ask('triggerconstantcontract', {
      owner_address: `41${bed.user.address.slice(2)}`,
      contract_address: `41${depository.slice(2)}`,
      function_selector: 'callRequests(bytes32)',
      parameter: 'ab'.repeat(32),
    }),
  ])
  expect(answers.map(({ text }) => text).join()).toMatch(/"log".*"constant_result"/s)
  expectTypes(answers)
})

test('Tron: an account, what the chain charges, and its newest block', async () => {
  const bed = await startTronBed()
  onTestFinished(() => bed.stop())
  const ask = (type: SeenAnswer['type'], body: object) => post(`${bed.facade.url}/wallet/${type}`, type, body)
  const answers = await Promise.all([
    ask('getaccount', { address: `41${bed.user.address.slice(2)}` }),
    ask('getaccount', { address: `41${'99'.repeat(20)}` }),
    ask('getchainparameters', {}),
    ask('getnowblock', {}),
  ])
  expect(answers.map(({ text }) => text).join()).toMatch(/"balance".*"getEnergyFee".*"blockID"/s)
  expectTypes(answers)
})

test('an answer with a member of another name, another kind or none at all is refused', () => {
  const [place, spend] = [
    { block_height: 1, block_hash: 'a', block_time: 2 },
    { spent: true, txid: 'a', vin: 0 },
  ]
  const answers: readonly SeenAnswer[] = [
    { type: 'status', text: JSON.stringify({ confirmed: true, ...place }) },
    { type: 'status', text: JSON.stringify({ confirmed: true, ...place, block_time: '2' }) },
    { type: 'status', text: JSON.stringify({ confirmed: true, ...place, height: 1 }) },
    { type: 'outspend', text: JSON.stringify(spend) },
    { type: 'txDetails', text: 'null' },
    { type: 'userRole', text: '{"role":"nobody"}' },
    { type: 'getblock', text: '{"block_id":"00"}' },
    { type: 'gettransactioninfobyid', text: '{"receipt":{"result":5}}' },
  ]
  expect(judgeTypes(answers).map((found) => found.length > 0)).toEqual([
    false,
    ...answers.slice(1).map(() => true),
  ])
})
