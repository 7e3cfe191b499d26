// Checks a saved answer of `GET /requests/{requestId}/timeline?signed=true` against the evidence key that its service
// publishes, and prints what is signed: node --import tsx verifyTimeline.ts answer.json 0x…
import { readFileSync } from 'node:fs'
import { type Address, type Hex, isAddressEqual, recoverTypedDataAddress } from 'viem'

type Evidence = { kind: string; label: string; value: string; chainId?: number }
type Step = { step: string; at: string; reason: string | null; text: string; evidence: Evidence[] }
type Answer = {
  requestId: Hex
  orderId: Hex | null
  status: string
  reason: string | null
  steps: Step[]
  signed?: { signer: Address; asOf: string; signature: Hex }
}

const noOrder: Hex = `0x${'0'.repeat(64)}`
const types = {
  Timeline: [
    { name: 'requestId', type: 'bytes32' },
    { name: 'orderId', type: 'bytes32' },
    { name: 'status', type: 'string' },
    { name: 'reason', type: 'string' },
    { name: 'asOf', type: 'string' },
    { name: 'steps', type: 'Step[]' },
  ],
  Step: [
    { name: 'step', type: 'string' },
    { name: 'at', type: 'string' },
    { name: 'reason', type: 'string' },
    { name: 'text', type: 'string' },
    { name: 'evidence', type: 'Evidence[]' },
  ],
  Evidence: [
    { name: 'kind', type: 'string' },
    { name: 'label', type: 'string' },
    { name: 'value', type: 'string' },
    { name: 'chainId', type: 'uint256' },
  ],
} as const

const [file = '', published = ''] = process.argv.slice(2)
if (file === '' || !/^0x[0-9a-fA-F]{40}$/.test(published)) {
  console.error('usage: verifyTimeline.ts <file with the answer> <address of the evidence key>')
  process.exit(2)
}

const { requestId, orderId, status, reason, steps, signed }: Answer = JSON.parse(readFileSync(file, 'utf8'))
if (signed === undefined) throw new Error('The answer is not signed: ask with signed=true.')
// The address in the answer is the answer's own word: the published one counts.
const signer = await recoverTypedDataAddress({
  domain: { name: 'CausewayTimeline', version: '1' },
  types,
  primaryType: 'Timeline',
  message: {
    ...{ requestId, orderId: orderId ?? noOrder, status, reason: reason ?? '', asOf: signed.asOf },
    steps: steps.map(({ step, at, text, reason: why, evidence }) => ({
      ...{ step, at, text, reason: why ?? '' },
      evidence: evidence.map(({ kind, label, value, chainId = 0 }) => ({
        ...{ kind, label, value, chainId: BigInt(chainId) },
      })),
    })),
  },
  signature: signed.signature,
})
const isGenuine = isAddressEqual(signer, published as Address)
if (isGenuine) {
  console.log(`Signed by ${published}, true at ${signed.asOf}: request ${requestId} is ${status}`)
  for (const { at, text } of steps) console.log(`${at}  ${text}`)
} else console.error(`Not signed so by ${published}.`)
process.exitCode = isGenuine ? 0 : 1
