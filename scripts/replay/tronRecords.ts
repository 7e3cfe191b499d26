import { utils } from 'tronweb'
import { parsePrices, parseRun } from '../../packages/families/src/tron/quoting/nodeCalls.ts'
import {
  isNothing,
  parseHasContract,
  parseHeader,
  parseInfo,
  parseInfosOf,
  parseTransaction,
} from '../../packages/families/src/tron/reading/answers.ts'
import { tronBlockForm, tronCallForm, tronContractForm, tronInfosForm, tronTransactionForm } from './forms.ts'
import { has, isListOf, ok, type RecordKind, Refusal } from './outcome.ts'

/** Every other kind of transaction is read as one that moves nothing. */
const readTypes: ReadonlySet<unknown> = new Set(['TransferContract', 'TriggerSmartContract'])

/** Answers of java-tron's HTTP API, read beside tronweb and what the node itself decoded. */
export const tronRecords: readonly RecordKind[] = [
  {
    name: 'an exception',
    fits: ({ result }) => has(result, 'Error'),
    read({ result }) {
      throw new Refusal(String(Object(result)['Error']))
    },
  },
  {
    name: 'a transaction',
    form: tronTransactionForm,
    fits: ({ result }) => has(result, 'txID', 'raw_data'),
    read({ result }) {
      const { txID } = Object(result)
      const transaction = parseTransaction(result, txID)
      if (transaction === undefined) throw new Refusal('there is none')
      const { from, to, value, input } = transaction
      return from === undefined ? {} : { from, to, value, input }
    },
    library({ result }) {
      const [{ type }] = Object(result).raw_data.contract
      if (!readTypes.has(type)) return {}
      if (!utils.transaction.txCheck(Object(result))) throw new Error('the id is not the hash of the content')
      const { value } = Object(result).raw_data.contract[0].parameter
      const { amount, call_value: callValue, data = '' } = value
      return {
        from: accountOf(value.owner_address),
        to: accountOf(value.to_address ?? value.contract_address),
        value: BigInt(amount ?? callValue ?? 0),
        input: `0x${data}`,
      }
    },
  },
  {
    name: 'an outcome',
    fits: ({ result }) => has(result, 'id', 'blockNumber', 'blockTimeStamp'),
    read({ result }) {
      const info = parseInfo(result, Object(result)['id'])
      if (info === undefined) throw new Refusal('there is none')
      return { ...info }
    },
  },
  {
    name: 'outcomes of a block',
    form: tronInfosForm,
    fits: ({ result }) => isListOf(result, 'id', 'blockNumber'),
    read: ({ result }) => ({ infos: parseInfosOf(result, BigInt(Object(result)[0]['blockNumber'])) }),
  },
  {
    name: 'a block',
    form: tronBlockForm,
    fits: ({ result }) => has(result, 'blockID', 'block_header'),
    read: ({ result }) => ({ ...parseHeader(result) }),
  },
  {
    name: 'parameters of the chain',
    fits: ({ result }) => has(result, 'chainParameter'),
    read: ({ result }) => ({ ...parsePrices(ok(result)) }),
  },
  {
    name: 'a call',
    form: tronCallForm,
    fits: ({ result }) => has(result, 'result', 'constant_result'),
    read: ({ result }) => ({ run: parseRun(ok(result)) }),
  },
  {
    name: 'a contract',
    form: tronContractForm,
    fits: ({ result }) => has(result, 'bytecode'),
    read: ({ result }) => ({ isContract: parseHasContract(result) }),
  },
  {
    name: 'nothing',
    fits: ({ result }) => isNothing(result),
    read() {
      throw new Refusal('there is none')
    },
  },
]

/** Twenty bytes of an account in hex or base58, as nodes show it. */
function accountOf(address: unknown): string | undefined {
  if (typeof address !== 'string') return undefined
  const hex = address.startsWith('T') ? utils.address.toHex(address) : address
  return `0x${hex.slice(2).toLowerCase()}`
}
