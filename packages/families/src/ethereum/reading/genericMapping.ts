import type { Hex } from '@causeway/core'
import type { QuorumClient } from '@causeway/rpc'
import { MalformedAnswerError, parseBytes, resultOf } from '@causeway/rpc'
import type { EntryPlace, HubEntries } from '../../shared/hubEntries.ts'
import { readAbi } from '../contracts/abiReader.ts'
import { addressWord, bytes32Word } from '../rules/abi.ts'
import { readEachNewest, readNewest } from './hubReader.ts'

/** `getEntry(address,bytes32)` returns `(bytes data, uint256 createdAt)`. */
const getEntry = '0xcad2ab23'
/** Entries that we read are shorter; a longer one is malformed. */
const dataBytesMax = 1_024

/**
 * Reader of the hub's generic mapping, at the newest block that enough endpoints have.
 * @source rule F-152; docs/internals/hyperliquid-reader.md
 */
export function createHubEntries(options: {
  readonly quorum: QuorumClient
  readonly mappingAddress: Hex
}): HubEntries {
  const { quorum, mappingAddress } = options
  const callOf = ({ user, id }: EntryPlace) => ({
    to: mappingAddress,
    data: getEntryData(user, id),
    parse: (answer: Parameters<typeof resultOf>[0]) => parseEntry(resultOf(answer, 'getEntry')),
  })
  return {
    async read(user, id, { signal }) {
      const { value, timestampSeconds } = await readNewest(quorum, callOf({ user, id }), signal)
      return { ...value, readAtSeconds: timestampSeconds }
    },
    async readEach(places, { signal }) {
      const { values, timestampSeconds } = await readEachNewest(quorum, places.map(callOf), signal)
      return values.map((value) => ({ ...value, readAtSeconds: timestampSeconds }))
    },
  }
}

export function getEntryData(user: Hex, id: Hex): Hex {
  return `${getEntry}${addressWord(user)}${bytes32Word(id)}`
}

/** Without an entry, data is empty and the time 0. @throws MalformedAnswerError, also for an entry without a time */
export function parseEntry(result: unknown): { readonly data: Hex; readonly createdAtSeconds: bigint } {
  const functionName = 'getEntry'
  const reader = readAbi(parseBytes(result, functionName), functionName)
  const start = reader.position(0)
  const createdAtSeconds = reader.uint(32)
  const length = reader.position(start)
  if (length > dataBytesMax) throw new MalformedAnswerError(functionName)
  const data = reader.slice(start + 32, length)
  if (data !== '0x' && createdAtSeconds === 0n) throw new MalformedAnswerError(functionName)
  return { data, createdAtSeconds }
}
