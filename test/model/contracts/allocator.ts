// Allocator.sol and EvmPayloadBuilder.sol: one payload per request that the oracles signed, one request per
// spender and nonce.

import { type Hex, withdrawRequestPayloadId } from '@causeway/core'
import { encodeEvmWithdrawal, signingDigest } from '@causeway/families/rules'
import { hashOf } from '../hash.ts'
import { type ContractModel, callData, contractOf, event, method, Revert, toHex } from './contractModel.ts'
import { isSignedBy } from './signatures.ts'

const requestTuple =
  '(uint256 chainId, string depository, string currency, uint256 amount, address spender, string receiver, bytes data, bytes32 nonce)'
const submitted = event(`event WithdrawRequestSubmitted(bytes32 indexed payloadId, ${requestTuple} request)`)
const built = event('event PayloadBuilt(bytes32 indexed payloadId, bytes payload, uint256 timestamp)')
const signed = event(
  'event PayloadWithdrawSigned(bytes32 indexed payloadId, bytes32 indexed hash, bytes signature)',
)
const transfer = callData('function transfer(address to, uint256 amount)')
const lifetimeSeconds = 864_000n
const noPayload: Hex = `0x${'0'.repeat(64)}`
const nativeCurrency = `0x${'0'.repeat(40)}`

type Request = {
  readonly chainId: bigint
  readonly currency: string
  readonly amount: bigint
  readonly receiver: string
  readonly data: Hex
}

/** Payload that the builder for EVM chains makes of a request; `0x` if the request has members beyond that family's. */
function buildPayload(payloadId: Hex, request: Request, timestamp: bigint): Hex {
  if (request.data !== '0x') return '0x'
  const [currency, receiver] = [addressOf(request.currency), addressOf(request.receiver)]
  const call =
    currency === nativeCurrency
      ? { to: receiver, data: '0x' as const, value: request.amount }
      : { to: currency, data: transfer(receiver, request.amount), value: 0n }
  return encodeEvmWithdrawal({
    calls: [{ ...call, allowFailure: false }],
    nonce: BigInt(payloadId),
    expiration: timestamp + lifetimeSeconds,
  })
}

function addressOf(text: string): Hex {
  if (!/^0x[0-9a-f]{40}$/.test(text)) throw new Revert('MalformedText')
  return `0x${text.slice(2)}`
}

/** @param rules.oneRequestPerNonce as the contract has it; without, what it is there for is open */
export function allocatorModel(rules: { readonly oneRequestPerNonce: boolean }): ContractModel {
  return contractOf([
    method('function payloads(bytes32 payloadId) returns (bytes)', ({ state }, [id]) => [
      state.bytes(`payload ${id}`),
    ]),
    method(
      'function signedPayloads(bytes32 payloadId, bytes32 hash) returns (bytes)',
      ({ state }, [id, hash]) => [state.bytes(`signature ${id} ${hash}`)],
    ),
    method(
      'function payloadIdOf(address spender, bytes32 nonce) returns (bytes32)',
      ({ state }, [one, nonce]) => {
        const id = state.bytes(`request ${one} ${nonce}`)
        return [id === '0x' ? noPayload : id]
      },
    ),
    method(
      `function submitWithdrawRequest(${requestTuple} request, bytes oracleSignature) returns (bytes32 payloadId)`,
      (frame, [request, signature]) => {
        const { state, timestamp } = frame
        const { receiver, ...rest } = request
        const asked = { ...rest, recipient: receiver }
        const domain = { chainId: frame.chainId, verifyingContract: frame.self }
        const digest = toHex(signingDigest({ purpose: 'withdraw-request', domain, request: asked }))
        if (!isSignedBy(frame, state.bytes('oracle'), digest, signature)) throw new Revert('InvalidSignature')
        if (state.number(`builder ${request.chainId} ${request.depository}`) === 0n) {
          throw new Revert('UnknownBuilder')
        }
        const nonceKey = `request ${request.spender} ${request.nonce}`
        if (rules.oneRequestPerNonce && state.bytes(nonceKey) !== '0x') throw new Revert('NonceUsed')
        const id = withdrawRequestPayloadId(asked)
        const payload = buildPayload(id, request, timestamp)
        if (payload === '0x') throw new Revert('EmptyPayload')
        if (state.bytes(`id of ${hashOf(payload)}`) !== '0x') throw new Revert('DuplicatePayload')
        state.set(`id of ${hashOf(payload)}`, id)
        state.set(nonceKey, id)
        state.set(`payload ${id}`, payload)
        state.set(`time ${id}`, timestamp)
        frame.emit(submitted(id, request))
        frame.emit(built(id, payload, timestamp))
        return [id]
      },
    ),
    method('function storeSignature(bytes32 payloadId, bytes32 hash, bytes signature)', (frame, given) => {
      const { state, caller } = frame
      const [id, hash, signature] = given
      if (caller !== state.bytes('signer')) throw new Revert('NotSigner')
      if (state.number(`time ${id}`) === 0n) throw new Revert('UnknownPayload')
      if (state.bytes(`signature ${id} ${hash}`) !== '0x') throw new Revert('AlreadySigned')
      state.set(`signature ${id} ${hash}`, signature)
      frame.emit(signed(id, hash, signature))
      return []
    }),
  ])
}
