// Load time of the families' libraries, and the cost of our own code that replaces them: decisions 15 and 19 quote
// these rows.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { hexToBytes, keccak256, viemLibrary } from '@causeway/core'
import { bitcoinMainnet, solanaCodec } from '@causeway/core/encodings'
import {
  bitcoinLibrary,
  encodeBitcoinPayload,
  outputScript,
  payloadWithdrawal,
  signingDigest,
  solanaLibrary,
} from '@causeway/families/rules'
import {
  currencyAmountJson,
  currencyToWire,
  valuedAmountToWire,
} from '../apps/quote-api/src/http/wire/currencyAmount.ts'
import { chainA, testRegistry } from '../apps/quote-api/test/fixtures/market.ts'
import { InstructionData } from '../packages/families/src/solana/reading/instructionData.ts'
import { median } from './load.ts'
import type { BenchRow } from './row.ts'

const starts = 7
const rounds = 5
const inputCount = 200
const recipient = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

/** @throws Error when ours and the library's results differ */
export async function benchLibraries(): Promise<readonly BenchRow[]> {
  return [
    loading('bitcoinjs-lib', 'core', "createRequire(import.meta.url)('bitcoinjs-lib')", 16),
    loading('viem', 'core', "createRequire(import.meta.url)('viem')", 30, 'viem'),
    loading('@solana/web3.js', 'core', "createRequire(import.meta.url)('@solana/web3.js')", 25),
    loading('tronweb', 'chains', "createRequire(import.meta.url)('tronweb')", 50, 'tronweb'),
    benchAddresses(),
    benchKeccak(),
    benchTypedData(),
    benchPsbts(),
    benchAmounts(),
    await benchKeys(),
    await benchTransfers(),
  ]
}

/** In a process of its own, beside nothing else. */
function loading(name: string, owner: string, load: string, goalMiB: number, id = owner): BenchRow {
  const script = `import { createRequire } from 'node:module'
    const [startedAt, before] = [performance.now(), process.memoryUsage().rss]
    ${load.replace('import.meta.url', "process.cwd() + '/'")}
    console.log(performance.now() - startedAt, (process.memoryUsage().rss - before) / 2 ** 20)`
  const cwd = fileURLToPath(new URL(`../packages/${owner}`, import.meta.url))
  const seen = Array.from({ length: starts }, () => {
    const [ms = 0, mib = 0] = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd })
      .toString()
      .split(' ')
      .map(Number)
    return { ms, mib }
  })
  const mib = median(seen.map((one) => one.mib))
  return {
    id: `libraries-load-${id}`,
    name: `loading ${name}, once per process`,
    value: `${median(seen.map(({ ms }) => ms)).toFixed(0)} ms, ${mib.toFixed(1)} MiB`,
    limit: `<= ${goalMiB} MiB`,
    ratio: mib,
    goal: goalMiB,
    atLeast: false,
  }
}

function benchAddresses(): BenchRow {
  const { address } = bitcoinLibrary()
  return compared('libraries-address', 'the script of a Bitcoin address', 2_000, {
    ours: () => outputScript(recipient, bitcoinMainnet),
    library: () => address.toOutputScript(recipient),
  })
}

function benchKeccak(): BenchRow {
  const { keccak256: libraryKeccak } = viemLibrary()
  const words = new Uint8Array(160).fill(7)
  return compared('libraries-keccak', 'keccak of five words', 5_000, {
    ours: () => keccak256(words),
    library: () => libraryKeccak(words, 'bytes'),
  })
}

/** Cost of hashing the typed data of an attestation, over an action of the usual length. */
function benchTypedData(): BenchRow {
  const { hashTypedData } = viemLibrary()
  const domain = { version: '1', chainId: 1, verifyingContract: `0x${'11'.repeat(20)}` } as const
  const execution = { idempotencyKey: `0x${'22'.repeat(32)}`, actions: [`0x${'33'.repeat(352)}`] } as const
  const types = {
    Execution: [
      { name: 'idempotencyKey', type: 'bytes32' },
      { name: 'actions', type: 'bytes[]' },
    ],
  } as const
  const signed = { domain: { ...domain, name: 'RelayOracle' }, types, primaryType: 'Execution' } as const
  return compared('libraries-execution', 'the digest of an execution', 2_000, {
    ours: () => signingDigest({ purpose: 'execution', domain, execution }),
    library: () => hexToBytes(hashTypedData({ ...signed, message: execution })),
  })
}

function benchPsbts(): BenchRow {
  const { Psbt } = bitcoinLibrary()
  const script = outputScript(recipient, bitcoinMainnet)
  const inputs = Array.from({ length: inputCount }, (_, index) => ({
    txid: (index + 1).toString(16).padStart(64, '0'),
    vout: 0,
    spent: { value: 1_000n, script },
  }))
  const payload = encodeBitcoinPayload({ inputs, outputs: [{ value: 4n, script }] })
  return compared(`libraries-psbt`, `writing a PSBT of ${inputCount} inputs`, 1, {
    ours: () => hexToBytes(payloadWithdrawal('bitcoin-vm', payload)),
    library() {
      const psbt = new Psbt().setVersion(1)
      for (const { txid, vout, spent } of inputs) {
        psbt.addInput({ hash: txid, index: vout, sequence: 0xffff_ffff, witnessUtxo: spent })
      }
      return psbt.addOutput({ value: 4n, script }).toBuffer()
    },
  })
}

/** An answer of `/quote` with what it has most of: amounts with their currency. */
function benchAmounts(): BenchRow {
  const currency = testRegistry().chainById.get(chainA)?.native
  if (currency === undefined) throw new Error('the test chain has a native currency')
  const unit = { decimals: currency.decimals, usdX18: 2_500n * 10n ** 18n }
  const amounts = Array.from({ length: 16 }, (_, index) => 1_234_567n * BigInt(index + 1))
  return compared('libraries-amounts', `the text of ${amounts.length} amounts, JSON.stringify`, 2_000, {
    ours: () =>
      Buffer.from(`[${amounts.map((amount) => currencyAmountJson(currency, unit, amount)).join()}]`),
    library: () =>
      Buffer.from(
        JSON.stringify(amounts.map((amount) => valuedAmountToWire(currencyToWire(currency), unit, amount))),
      ),
  })
}

async function benchKeys(): Promise<BenchRow> {
  const { PublicKey } = solanaLibrary()
  return compared('libraries-key', 'the bytes of a Solana key', 2_000, {
    ours: () => solanaCodec.encodeAddress(mint),
    library: () => new PublicKey(mint).toBytes(),
  })
}

/** Cost of parsing a transfer instruction as a message names it: keys in base58, data in hex. */
async function benchTransfers(): Promise<BenchRow> {
  const { PublicKey, SystemInstruction, SystemProgram } = solanaLibrary()
  const data = '0x020000000500000000000000'
  return compared('libraries-transfer', 'the lamports of a transfer of the System program', 2_000, {
    ours: () => Uint8Array.of(Number(new InstructionData(data).uint64(4))),
    library() {
      const account = { pubkey: new PublicKey(mint), isSigner: true, isWritable: true }
      const { lamports } = SystemInstruction.decodeTransfer({
        programId: SystemProgram.programId,
        keys: [account, account],
        data: Buffer.from(hexToBytes(data)),
      })
      return Uint8Array.of(Number(lamports))
    },
  })
}

type Sides = { readonly ours: () => Uint8Array; readonly library: () => Uint8Array }

/** Median of alternating rounds. @throws Error when the two results differ */
function compared(id: string, name: string, calls: number, { ours, library }: Sides): BenchRow {
  if (Buffer.compare(ours(), library()) !== 0) throw new Error(`${name}: the library gives something else`)
  const seen: { ours: number; library: number }[] = []
  // The first round only warms both up.
  for (let round = 0; round <= rounds; round += 1) {
    const taken = { ours: timed(ours, calls), library: timed(library, calls) }
    if (round > 0) seen.push(taken)
  }
  const [own, other] = [median(seen.map((one) => one.ours)), median(seen.map((one) => one.library))]
  return {
    id,
    name: `${name}: ours against the library`,
    value: `${own.toFixed(1)} µs against ${other.toFixed(1)} µs`,
    limit: '<= 1 of the library',
    ratio: own / other,
    goal: 1,
    atLeast: false,
  }
}

/** Microseconds for a call. */
function timed(work: () => unknown, calls: number): number {
  const startedAt = performance.now()
  for (let call = 0; call < calls; call += 1) work()
  return ((performance.now() - startedAt) * 1_000) / calls
}
