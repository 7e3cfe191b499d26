import type { Hex, ReadOptions } from '@causeway/core'
import type { AgreedState, FinalLog, FinalLogs, FinalStateReader } from '@causeway/families'
import {
  decodeEventLog,
  decodeFunctionResult,
  encodeEventTopics,
  encodeFunctionData,
  isHex,
  parseAbi,
} from 'viem'
import type { Backing, HubState, IssuedPayload } from '../payloads/issued.ts'

/** ABI members of the allocator's contract and the hub. @source rule P-69 */
const abi = parseAbi([
  'struct SubmitWithdrawRequest { uint256 chainId; string depository; string currency; uint256 amount; address spender; string receiver; bytes data; bytes32 nonce; }',
  'event WithdrawRequestSubmitted(bytes32 indexed payloadId, SubmitWithdrawRequest request)',
  'event PayloadBuilt(bytes32 indexed payloadId, bytes payload, uint256 timestamp)',
  'event PayloadWithdrawSigned(bytes32 indexed payloadId, bytes32 indexed hash, bytes signature)',
  'function signer() view returns (address)',
  'function payloads(bytes32 payloadId) view returns (bytes)',
  'function payloadIdOf(address spender, bytes32 nonce) view returns (bytes32)',
  'function signedPayloads(bytes32 payloadId, bytes32 hash) view returns (bytes)',
  'function storeSignature(bytes32 payloadId, bytes32 hash, bytes signature)',
  'function balanceOf(address holder, uint256 id) view returns (uint256)',
])

const eventNames = ['WithdrawRequestSubmitted', 'PayloadBuilt', 'PayloadWithdrawSigned'] as const
const topics = eventNames
  .flatMap((eventName) => encodeEventTopics({ abi, eventName }))
  .filter((topic) => isHex(topic))

/** An issued payload, as the contract's events tell it, with the block of the events. */
export type IssuedEvent = IssuedPayload & { readonly blockNumber: bigint }
/** A signature that was stored in the contract, by any account. */
export type SignedEvent = { readonly payloadId: Hex; readonly hash: Hex; readonly blockSeconds: bigint }

/**
 * Events of some final blocks, the last of them (`until`; undefined while the first is not final), and the
 * hash of the block before the first: if that is not the one read before, a final block was replaced.
 */
export type ReadEvents = Pick<FinalLogs, 'until' | 'parentHash'> & {
  readonly issued: readonly IssuedEvent[]
  readonly signed: readonly SignedEvent[]
}

/** `HubState` of a payload, and which of its signatures are stored. */
export type PayloadState = HubState & {
  /** Final block number at which the state was read. */
  readonly height: bigint
  /** For each hash of the payload, in order: whether its signature is stored in a final block, and in the newest one. */
  readonly stored: readonly { readonly isFinal: boolean; readonly isSeen: boolean }[]
}

/** Reads the allocator's contract, and balances on the hub, at final blocks on which a quorum of endpoints agrees. */
export interface AllocatorContract {
  /** Address whose signatures it takes; `undefined` if the code there names none. @throws as the reader */
  signer(options: ReadOptions): Promise<Hex | undefined>
  /** Reads events from block `from` on, up to the newest final block, at most of `rangeMax` blocks. */
  readEvents(from: bigint, options: ReadOptions): Promise<ReadEvents>
  readPayload(
    issued: IssuedPayload,
    parts: { readonly hashes: readonly Hex[]; readonly backing: Backing },
    options: ReadOptions,
  ): Promise<PayloadState>
}

/** Most blocks whose events are read at once. */
const rangeMax = 2_000n

export function createAllocatorContract(options: {
  readonly reader: FinalStateReader
  readonly allocator: Hex
  readonly hub: Hex
}): AllocatorContract {
  const { reader, allocator, hub } = options
  return {
    async signer(reading) {
      const data = encodeFunctionData({ abi, functionName: 'signer' })
      const state = await reader.readState({ final: [{ to: allocator, data }], newest: [] }, reading)
      const answer = answerAt(state.final, 0)
      if (!/^0x0{24}[0-9a-f]{40}$/.test(answer)) return undefined
      return lowerHex(decodeFunctionResult({ abi, functionName: 'signer', data: answer }))
    },
    async readEvents(from, reading) {
      const { logs, ...ends } = await reader.readLogs({ address: allocator, topics, from, rangeMax }, reading)
      return { ...ends, ...readLogs(logs) }
    },
    async readPayload({ payloadId, request }, { hashes, backing }, reading) {
      const { spender, nonce } = request
      const { holder, hubTokenId } = backing
      const signatureCalls = hashes.map((hash) => ({
        to: allocator,
        data: encodeFunctionData({ abi, functionName: 'signedPayloads', args: [payloadId, hash] }),
      }))
      const state = await reader.readState(
        {
          final: [
            { to: allocator, data: encodeFunctionData({ abi, functionName: 'payloads', args: [payloadId] }) },
            {
              to: allocator,
              data: encodeFunctionData({ abi, functionName: 'payloadIdOf', args: [spender, nonce] }),
            },
            {
              to: hub,
              data: encodeFunctionData({ abi, functionName: 'balanceOf', args: [holder, hubTokenId] }),
            },
            ...signatureCalls,
          ],
          newest: signatureCalls,
        },
        reading,
      )
      return payloadStateOf(state, hashes.length)
    },
  }
}

/** Call data of the transaction that stores one signature. */
export function storeSignatureData(payloadId: Hex, hash: Hex, signature: Hex): Hex {
  return encodeFunctionData({ abi, functionName: 'storeSignature', args: [payloadId, hash, signature] })
}

/** Decodes the answers to the calls of `readPayload`, in the order of the calls. */
function payloadStateOf({ final, newest, finalBlock }: AgreedState, hashCount: number): PayloadState {
  const firstSignature = final.length - hashCount
  const isStored = (data: Hex) => decodeFunctionResult({ abi, functionName: 'signedPayloads', data }) !== '0x'
  return {
    height: finalBlock.number,
    payload: decodeFunctionResult({ abi, functionName: 'payloads', data: answerAt(final, 0) }),
    payloadIdOfNonce: decodeFunctionResult({ abi, functionName: 'payloadIdOf', data: answerAt(final, 1) }),
    balance: decodeFunctionResult({ abi, functionName: 'balanceOf', data: answerAt(final, 2) }),
    stored: newest.map((data, index) => ({
      isFinal: isStored(answerAt(final, firstSignature + index)),
      isSeen: isStored(data),
    })),
  }
}

/** Joins each payload with the request that was submitted for it, in an earlier event of the same transaction. */
function readLogs(logs: readonly FinalLog[]): Pick<ReadEvents, 'issued' | 'signed'> {
  const requests = new Map<Hex, IssuedPayload['request']>()
  const issued: IssuedEvent[] = []
  const signed: SignedEvent[] = []
  for (const { topics: eventTopics, data, blockNumber, blockSeconds } of logs) {
    const [topic, ...indexedTopics] = eventTopics
    if (topic === undefined) continue
    const event = decodeEventLog({ abi, topics: [topic, ...indexedTopics], data })
    if (event.eventName === 'WithdrawRequestSubmitted') {
      const { receiver, spender, ...request } = event.args.request
      requests.set(event.args.payloadId, { ...request, spender: lowerHex(spender), recipient: receiver })
    } else if (event.eventName === 'PayloadBuilt') {
      const { payloadId, payload } = event.args
      const request = requests.get(payloadId)
      // A payload without its request cannot be judged, and is left out.
      if (request !== undefined) issued.push({ payloadId, payload, request, blockNumber })
    } else {
      const { payloadId, hash } = event.args
      signed.push({ payloadId, hash, blockSeconds })
    }
  }
  return { issued, signed }
}

function answerAt(answers: readonly Hex[], index: number): Hex {
  const answer = answers[index]
  if (answer === undefined) throw new Error('every read is answered')
  return answer
}

function lowerHex(value: Hex): Hex {
  return `0x${value.slice(2).toLowerCase()}`
}
