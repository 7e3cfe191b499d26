// Goal: the replay tells of each record whether the reader understands it, refuses it, or reads it otherwise than the
// library. Method: a folder of small records, written by the protocols; readers and libraries are the real ones.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { recordedTransactions } from '../../test/families/solanaSupport/storedBodies.ts'
import { readRecord } from './outcome.ts'
import { recordFolders, replay } from './readFolder.ts'

const hash = (byte: string) => `0x${byte.repeat(32)}`
const address = `0x${'a0'.repeat(20)}`
const key = 'So11111111111111111111111111111111111111112'
const place = {
  transactionHash: hash('11'),
  blockHash: hash('22'),
  blockNumber: '0x5',
  transactionIndex: '0x0',
}
const log = { ...place, address, topics: [hash('33')], data: '0x01', logIndex: '0x2' }
const receipt = { ...place, cumulativeGasUsed: '0x1', gasUsed: '0x1', status: '0x1', logs: [log] }

const transaction = {
  ...place,
  hash: hash('11'),
  from: address,
  to: address,
  nonce: '0x0',
  input: '0x',
  value: '0x7',
}
/** The first payment of the chain. @source Bitcoin, block 170 */
const bitcoin =
  '0100000001c997a5e56e104102fa209c6a852dd90660a20b2d9c352423edce25857fcd3704000000004847304402204e45e16932b8af514961a1d3a1a25fdf3f4f7732e9d624c6c61548ab5fb8cd410220181522ec8eca07de4860a4acdd12909d831cc56cbbac4622082221a8768d1d0901ffffffff0200ca9a3b00000000434104ae1a62fe09c5f51b13905f07f06b99a2f7159b2225f374cd378d71302fa28414e7aab37397f554a7df5f142c21c1b7303b8a0626f1baded5c72a704f7e6cd84cac00286bee0000000043410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac00000000'
const rpc = (result: unknown) => ({ jsonrpc: '2.0', id: 7, result })

/** Lines and exit code of a folder with these files. */
async function replayed(files: Readonly<Record<string, unknown>>) {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-replay-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, body] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), typeof body === 'string' ? body : JSON.stringify(body))
  }
  const lines: string[] = []
  const code = await replay(folder, (line) => lines.push(line))
  return { code, lines }
}

test.each<[string, string, unknown]>([
  ['ethereum-vm', 'receipt', rpc(receipt)],
  ['ethereum-vm', 'transaction', transaction],
  ['ethereum-vm', 'logs', rpc([log])],
  [
    'ethereum-vm',
    'block',
    { ...place, number: '0x5', hash: hash('22'), parentHash: hash('21'), timestamp: '0x6' },
  ],
  [
    'ethereum-vm',
    'fees',
    { oldestBlock: '0x1', baseFeePerGas: ['0x1', '0x2'], gasUsedRatio: [0.5], reward: [['0x3']] },
  ],
  ['ethereum-vm', 'head', rpc('0xb83b90')],
  ['ethereum-vm', 'code', rpc('0x6080604052aabbccdd')],
  ['solana-vm', 'transaction', rpc(JSON.parse(recordedTransactions[0]?.body ?? ''))],
  [
    'solana-vm',
    'account',
    { owner: key, lamports: 5, data: ['AQI=', 'base64'], executable: false, rentEpoch: 0 },
  ],
  [
    'solana-vm',
    'block',
    { blockhash: key, parentSlot: 4, previousBlockhash: key, blockTime: 7, blockHeight: 3 },
  ],
  ['bitcoin-vm', 'raw', bitcoin],
  ['bitcoin-vm', 'status', { confirmed: false }],
  [
    'tron-vm',
    'parameters',
    {
      chainParameter: [
        { key: 'getEnergyFee', value: 210 },
        { key: 'getTransactionFee', value: 1000 },
      ],
    },
  ],
  ['hyperliquid-vm', 'balances', { balances: [{ coin: 'USDC', token: 0, total: '1.5', hold: '0.0' }] }],
  ['lighter-vm', 'nonce', { code: 200, nonce: 7 }],
])('O-54: a good answer of %s is read: %s', async (folder, name, body) => {
  const { code, lines } = await replayed({ [`${folder}/${name}.json`]: body })
  expect(lines).toEqual([`${folder}/${name}.json: read`, '1 read, 0 refused, 0 not understood, 0 differ'])
  expect(code).toBe(0)
})

test.each<[string, string, unknown, string]>([
  [
    'ethereum-vm',
    'pending',
    { ...transaction, blockHash: null, blockNumber: null },
    'a transaction: no block holds it',
  ],
  ['ethereum-vm', 'error', { jsonrpc: '2.0', id: 1, error: { code: 3, message: 'reverted' } }, '3 reverted'],
  ['ethereum-vm', 'other', rpc({ syncing: true }), 'no service asks for such an answer'],
  [
    'solana-vm',
    'parsed',
    { owner: key, lamports: 5, data: { parsed: {} } },
    'an account: it is in another encoding than base64',
  ],
  [
    'ethereum-vm',
    'shortened',
    { ...receipt, from: address, logs: [{ ...log, topics: ['0x33…'] }] },
    'a receipt: no such answer: logs.0.topics.0: no hash of 32 bytes',
  ],
  [
    'ethereum-vm',
    'of Frontier',
    { ...receipt, from: address, status: undefined, root: hash('44') },
    'a receipt: it does not say whether the transaction succeeded',
  ],
  [
    'tron-vm',
    'altered',
    { txID: 'ab'.repeat(32), raw_data_hex: '00', raw_data: { contract: [{ parameter: { value: {} } }] } },
    'a transaction: no such answer: it: the id is not the hash of the bytes',
  ],
  [
    'hyperliquid-vm',
    'shortened',
    [{ time: 1, hash: '0x06', delta: { type: 'deposit' } }],
    'entries of a ledger: no such answer: 0.hash: no hash of 32 bytes',
  ],
  ['tron-vm', 'exception', { Error: 'no such account' }, 'an exception: no such account'],
  [
    'bitcoin-vm',
    'raw',
    bitcoin.slice(0, -2),
    'bytes of a transaction: Error no transaction; nor does the library',
  ],
  ['lighter-vm', 'missing', { code: 21_500, message: 'x' }, 'a transaction: there is none'],
  ['errors', 'page', '<html></html>', 'not_json'],
  ['errors', 'limit', { error: { code: 429, message: 'slow down' }, id: 3 }, 'rate_limited'],
])('O-54: a refusal of %s has its reason: %s', async (folder, name, body, reason) => {
  const { code, lines } = await replayed({ [`${folder}/${name}.json`]: body })
  expect(lines[0]).toBe(`${folder}/${name}.json: refused: ${reason}`)
  expect(code).toBe(0)
})

test.each<[string, unknown, RegExp]>([
  [
    'errors',
    { jsonrpc: '2.0', id: null, error: { code: '-32600', message: 'empty batch' } },
    /not understood: -32600/,
  ],
  [
    'errors',
    { code: -32_015, message: 'over 15 requests per second' },
    /differs: -32015 .* a limit of the rate/,
  ],
])('O-54: %s that is read otherwise ends the replay with 1', async (folder, body, line) => {
  const { code, lines } = await replayed({ [`${folder}/one.json`]: body, 'SOURCES.md': 'a page' })
  expect(lines[0]).toMatch(line)
  expect(code).toBe(1)
})

test('O-54: an answer of the published form that its reader does not take is a finding', async () => {
  const kind = (form: () => string | undefined) => ({
    name: 'it',
    fits: () => true,
    form,
    read() {
      throw new Error('no member')
    },
  })
  const outcomeOf = (form: () => string | undefined) =>
    readRecord([kind(form)], { text: '', result: undefined })
  expect(await outcomeOf(() => undefined)).toEqual({ kind: 'not understood', reason: 'it: Error no member' })
  expect(await outcomeOf(() => 'a: cut')).toEqual({ kind: 'refused', reason: 'it: no such answer: a: cut' })
})

test('O-54: what the library has, too, is compared, member by member', async () => {
  const kind = (read: object, library: object) => [
    { name: 'it', fits: () => true, read: () => ({ ...read }), library: () => ({ ...library }) },
  ]
  const outcomeOf = (read: object, library: object) =>
    readRecord(kind(read, library), { text: '', result: undefined })
  expect(await outcomeOf({ to: 'a', value: 5n }, { value: 5n })).toEqual({ kind: 'read' })
  expect(await outcomeOf({ value: 5n }, { value: 6n })).toEqual({
    kind: 'differs',
    reason: 'it: value is "5n", the library has "6n"',
  })
})

test('O-54: a folder without records ends with 2', async () => {
  expect(await replayed({ 'other/one.json': {} })).toEqual({
    code: 2,
    lines: ['0 read, 0 refused, 0 not understood, 0 differ'],
  })
  expect(recordFolders).toContain('tron-vm')
})
