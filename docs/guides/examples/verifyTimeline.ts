// Checks a saved answer of `GET /requests/{requestId}/timeline?signed=true` against the evidence key that its service
// publishes, and prints what is signed: node verifyTimeline.ts answer.json 0x…
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { type Address, type Hex, isAddressEqual, recoverTypedDataAddress } from 'viem'

type Evidence = { kind: string; label: string; value: string; chainId?: number }
type Step = { step: string; at: string; reason: string | null; text: string; evidence: Evidence[] }
export type Answer = {
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

/** True if the key of `published` signed the whole answer. The address inside the answer proves nothing. */
export async function isSignedBy(published: Address, answer: Answer): Promise<boolean> {
  const { requestId, orderId, status, reason, steps, signed } = answer
  if (signed === undefined) throw new Error('The answer is not signed: ask with signed=true.')
  const signer = await recoverTypedDataAddress({
    domain: { name: 'CausewayTimeline', version: '1' },
    types,
    primaryType: 'Timeline',
    message: {
      requestId,
      orderId: orderId ?? noOrder,
      status,
      reason: reason ?? '',
      asOf: signed.asOf,
      steps: steps.map(({ step, at, text, reason: why, evidence }) => ({
        step,
        at,
        text,
        reason: why ?? '',
        evidence: evidence.map(({ kind, label, value, chainId = 0 }) => ({
          kind,
          label,
          value,
          chainId: BigInt(chainId),
        })),
      })),
    },
    signature: signed.signature,
  })
  return isAddressEqual(signer, published)
}

/** @returns the exit code */
export async function main([file = '', published = '']: readonly string[]): Promise<number> {
  if (file === '' || !/^0x[0-9a-fA-F]{40}$/.test(published)) {
    console.error('usage: verifyTimeline.ts <file with the answer> <address of the evidence key>')
    return 2
  }
  const answer: Answer = JSON.parse(readFileSync(file, 'utf8'))
  if (!(await isSignedBy(published as Address, answer))) {
    console.error(`Not signed so by ${published}.`)
    return 1
  }
  console.log(
    `Signed by ${published}, true at ${answer.signed?.asOf}: request ${answer.requestId} is ${answer.status}`,
  )
  for (const { at, text } of answer.steps) console.log(`${at}  ${text}`)
  return 0
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.exitCode = await main(process.argv.slice(2))
