import { bitcoinLibrary, parseBitcoinBlock, parseBitcoinTransaction } from '@causeway/families/rules'
import {
  parseCoins,
  parseHashText,
  parseHeight,
  parseSeenTransaction,
} from '../../packages/families/src/bitcoin/reading/bitcoinView.ts'
import { parsePsbt } from '../../packages/families/src/bitcoin/rules/psbt.ts'
import { type Facts, has, isListOf, type Recorded, type RecordKind, Refusal } from './outcome.ts'

const isHex = (result: unknown): result is string =>
  typeof result === 'string' && /^([0-9a-f]{2})+$/i.test(result)
const isHash = (result: unknown): boolean => isHex(result) && result.length === 64
const isPsbt = (result: unknown): result is string =>
  typeof result === 'string' && result.startsWith('cHNidP')
const textOf = ({ result }: Recorded): string => String(result)

/** Answers of Bitcoin Core and Esplora, read beside bitcoinjs-lib. */
export const bitcoinRecords: readonly RecordKind[] = [
  {
    name: 'a hash of a block',
    fits: ({ result }) => isHash(result),
    read: ({ result }) => ({ hash: parseHashText(result, 'getblockhash') }),
  },
  {
    name: 'bytes of a block',
    fits: ({ result }) =>
      isHex(result) && result.length > 20_000 && parseInt(result.slice(144, 152), 16) > 0 && isBlock(result),
    read(recorded) {
      const block = parseBitcoinBlock(Buffer.from(textOf(recorded), 'hex'))
      if (block === undefined) throw new Error('no block')
      return { hash: block.header.hash, ids: block.transactions.map(({ transactionId }) => transactionId) }
    },
    library(recorded) {
      const block = bitcoinLibrary().Block.fromHex(textOf(recorded))
      return { hash: block.getId(), ids: block.transactions?.map((one) => one.getId()) }
    },
  },
  {
    name: 'bytes of a transaction',
    fits: ({ result }) => isHex(result),
    read: (recorded) => transactionFacts(textOf(recorded)),
    library: (recorded) => libraryFacts(textOf(recorded)),
  },
  {
    name: 'a transaction of a node',
    form: shownOutputsForm,
    fits: ({ result }) => has(result, 'txid', 'vout', 'hex'),
    read({ result }) {
      const { txid, hex, blockhash } = Object(result)
      const block = blockhash === undefined ? undefined : { hash: parseHashText(blockhash, 'blockhash') }
      parseSeenTransaction(hex, { transactionId: txid, block }, 'getrawtransaction')
      return { ...transactionFacts(hex), shown: shownValues(result) }
    },
    library: ({ result }) => {
      const { hex } = Object(result)
      const { outs } = bitcoinLibrary().Transaction.fromHex(hex)
      return {
        ...libraryFacts(hex),
        shown: shownValues(result) && outs.map(({ value }) => BigInt.asUintN(64, BigInt(value))),
      }
    },
  },
  {
    name: 'outputs of an address',
    fits: ({ result }) => isListOf(result, 'txid', 'vout', 'value', 'status'),
    read: ({ result }) => ({ outputs: Object(result).map(outputFacts) }),
  },
  {
    name: 'transactions of an address',
    fits: ({ result }) => isListOf(result, 'txid', 'vin', 'vout', 'status'),
    read: ({ result }) => ({ transactions: Object(result).map(esploraFacts) }),
  },
  {
    name: 'a transaction of Esplora',
    fits: ({ result }) => has(result, 'txid', 'vin', 'vout', 'status'),
    read: ({ result }) => ({ ...esploraFacts(result) }),
  },
  {
    name: 'a state of a transaction',
    fits: ({ result }) => has(result, 'confirmed'),
    read: ({ result }) => ({ block: blockOf(result) }),
  },
  {
    name: 'a header',
    form: (result) =>
      hashOfHeader(result) === Object(result)['hash'] ? undefined : 'the hash is not that of the header',
    fits: ({ result }) => has(result, 'hash', 'merkleroot', 'bits', 'confirmations'),
    read({ result }) {
      const { hash, height, confirmations } = Object(result)
      if (confirmations !== -1) parseHeight(confirmations, 'getblockheader')
      parseHeight(height, 'getblockheader')
      return { hash: parseHashText(hash, 'getblockheader') }
    },
    library: ({ result }) => ({ hash: hashOfHeader(result) }),
  },
  {
    name: 'an unspent output',
    fits: ({ result }) => has(result, 'bestblock', 'value', 'scriptPubKey'),
    read: ({ result }) => ({ value: parseCoins(Object(result)['value'], 'gettxout') }),
  },
  {
    name: 'an estimate of fees',
    fits: ({ result }) => has(result, 'feerate', 'blocks'),
    read: ({ result }) => ({ feerate: parseCoins(Object(result)['feerate'], 'estimatesmartfee') }),
  },
  {
    name: 'a merkle proof',
    fits: ({ result }) => has(result, 'merkle', 'pos'),
    read() {
      throw new Refusal('services read proofs as blocks of BIP 37')
    },
  },
  {
    name: 'a PSBT',
    fits: ({ result }) => isPsbt(result),
    read(recorded) {
      const { transaction, inputs } = psbtOrRefusal(textOf(recorded))
      return {
        inputs: inputs.map(({ txid, vout }) => [txid, vout]),
        outputs: transaction.outputs.map(({ value, script }) => [value, script]),
      }
    },
    library(recorded) {
      const { txInputs, txOutputs } = bitcoinLibrary().Psbt.fromBase64(textOf(recorded))
      return {
        inputs: txInputs.map(({ hash, index }) => [Buffer.from(hash).reverse().toString('hex'), index]),
        outputs: txOutputs.map(({ value, script }) => [BigInt.asUintN(64, BigInt(value)), script]),
      }
    },
  },
]

/** Values that a node writes beside the bytes, satoshi; other indexers write satoshi as text, and no script. */
function shownValues(result: unknown): readonly bigint[] | undefined {
  const { vout } = Object(result)
  return vout.every((output: unknown) => has(output, 'scriptPubKey'))
    ? vout.map((output: unknown) => parseCoins(Object(output)['value'], 'value'))
    : undefined
}

/** The bytes have the id's hash: what is written beside them and differs was altered. */
function shownOutputsForm(result: unknown): string | undefined {
  const { hex, vout } = Object(result)
  const { outs } = bitcoinLibrary().Transaction.fromHex(hex)
  const wrong = outs.findIndex(({ value }, index) => {
    const { n, value: shown } = Object(vout[index])
    return n !== index || Math.round(shown * 1e8) !== Number(value)
  })
  return wrong < 0 ? undefined : `vout.${wrong}: not the output of the bytes`
}

function isBlock(hex: string): boolean {
  return parseBitcoinTransaction(Buffer.from(hex, 'hex')) === undefined && checkIsBlock(hex)
}

function checkIsBlock(hex: string): boolean {
  try {
    return bitcoinLibrary().Block.fromHex(hex).transactions !== undefined
  } catch {
    return false
  }
}

function transactionFacts(hex: string): Facts {
  const transaction = parseBitcoinTransaction(Buffer.from(hex, 'hex'))
  if (transaction === undefined) throw new Error('no transaction')
  return {
    inputs: transaction.inputs.map(({ txid, vout, sequence }) => [txid, vout, sequence]),
    outputs: transaction.outputs.map(({ value, script }) => [value, script]),
  }
}

function libraryFacts(hex: string): Facts {
  const { ins, outs } = bitcoinLibrary().Transaction.fromHex(hex)
  return {
    inputs: ins.map(({ hash, index, sequence }) => [
      Buffer.from(hash).reverse().toString('hex'),
      index,
      sequence,
    ]),
    outputs: outs.map(({ value, script }) => [BigInt.asUintN(64, BigInt(value)), script]),
  }
}

function outputFacts(output: unknown): unknown {
  const { txid, vout, value, status } = Object(output)
  return [parseHashText(txid, 'utxo'), parseHeight(vout, 'utxo'), parseHeight(value, 'utxo'), blockOf(status)]
}

function esploraFacts(transaction: unknown): Facts {
  const { txid, vin, vout, status } = Object(transaction)
  return {
    id: parseHashText(txid, 'txs'),
    block: blockOf(status),
    spent: vin.map((input: unknown) => Object(input)['txid']),
    values: vout.map((output: unknown) => parseHeight(Object(output)['value'], 'txs')),
  }
}

function blockOf(status: unknown): unknown {
  const { confirmed, block_hash: hash, block_height: height } = Object(status)
  if (typeof confirmed !== 'boolean') throw new Error('not said whether it is confirmed')
  return confirmed ? [parseHashText(hash, 'status'), parseHeight(height, 'status')] : undefined
}

function hashOfHeader(result: unknown): string {
  const { version, previousblockhash = '00'.repeat(32), merkleroot, time, bits, nonce } = Object(result)
  const block = new (bitcoinLibrary().Block)()
  block.version = version
  block.prevHash = Buffer.from(previousblockhash, 'hex').reverse()
  block.merkleRoot = Buffer.from(merkleroot, 'hex').reverse()
  block.timestamp = time
  block.bits = parseInt(bits, 16)
  block.nonce = nonce
  return block.getId()
}

/** A reason that the reader names is a refusal. */
function psbtOrRefusal(text: string): ReturnType<typeof parsePsbt> {
  try {
    return parsePsbt(Buffer.from(text, 'base64'))
  } catch (error) {
    throw new Refusal(error instanceof Error ? error.message : String(error))
  }
}
