// P5: hash, sign and check one execution against the bare curve. P6: verify and merge the answers of 20
// peers against the bare recoveries in them.
import { type AttestationKind, attestationKinds, type FillsResponse } from '@causeway/attestations'
import { type Hex, hexToBytes, type Signer } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import { createRawKeySigner, parsePrivateKey, recoverSigner } from '@causeway/signer'
import { createAggregation } from '../apps/oracle/src/peers/aggregation.ts'
import { fillExecution, fillOfOrderB, hubDomain } from '../packages/core/test/vectors/messages.ts'
import { networkOf, repeated } from '../packages/core/test/vectors/orders.ts'
import { bareCurve } from './bareCurve.ts'
import type { BenchRow } from './row.ts'

const rounds = 5
const signaturesPerRound = 2_000
const mergesPerRound = 150
const peerCount = 20
const goals = { P5: 0.8, P6: 1.5 }
const context = { hub: { executionDomain: hubDomain }, networkOf }

/** Median of alternating rounds. @throws Error when a signature or a merge is not what it must be */
export async function benchSignatures(): Promise<readonly BenchRow[]> {
  return [await benchSigning(), await benchMerging()]
}

async function benchSigning(): Promise<BenchRow> {
  const key = repeated('11', 32)
  const signer = createRawKeySigner({ privateKey: parsePrivateKey(key, 'KEY') })
  const requests = Array.from({ length: signaturesPerRound }, (_, index) => ({
    purpose: 'execution' as const,
    domain: hubDomain,
    execution: { ...fillExecution, idempotencyKey: wordOf(index) },
  }))
  const curve = bareCurve(hexToBytes(key))
  const digests = requests.map((request) => signingDigest(request))
  const oursUs: number[] = []
  const bareUs: number[] = []
  // The first round only warms both up.
  for (let round = 0; round <= rounds; round++) {
    const ours = await timed(async () => {
      for (const request of requests) await signer.sign(request)
    })
    const bare = await timed(async () => {
      for (const digest of digests) curve.signAndRecover(digest)
    })
    if (round > 0) {
      oursUs.push(ours / signaturesPerRound)
      bareUs.push(bare / signaturesPerRound)
    }
  }
  const [ours, bare] = [median(oursUs), median(bareUs)]
  return {
    id: 'P5',
    name: 'EIP-712 hash, sign and self-check of an execution against libsecp256k1 sign + recover',
    value: `${ours.toFixed(1)} µs against ${bare.toFixed(1)} µs`,
    limit: `≥ ${goals.P5}`,
    ratio: bare / ours,
    goal: goals.P5,
    atLeast: true,
  }
}

async function benchMerging(): Promise<BenchRow> {
  const { mergedUs, bareUs, recoveries } = await measureMerging(peerCount, mergesPerRound)
  return {
    id: 'P6',
    name: `parse, verify and merge the answers of ${peerCount} peers to a fill against the bare recoveries`,
    value: `${mergedUs.toFixed(0)} µs against ${bareUs.toFixed(0)} µs for ${recoveries} recoveries`,
    limit: `≤ ${goals.P6}`,
    ratio: mergedUs / bareUs,
    goal: goals.P6,
    atLeast: false,
  }
}

/** Cost of merging the answers of `peers` oracles, and of the bare recoveries in it. */
export async function measureMerging(
  peers: number,
  merges: number,
): Promise<{ readonly mergedUs: number; readonly bareUs: number; readonly recoveries: number }> {
  const kind = attestationKinds.fills
  const signers = Array.from({ length: peers }, (_, index) =>
    createRawKeySigner({ privateKey: parsePrivateKey(wordOf(index + 1), 'KEY') }),
  )
  const unsigned = kind.responseSchema.parse({
    message: { ...fillOfOrderB('0'), signatures: [] },
    execution: { ...fillExecution, signatures: [] },
  })
  const answers = await Promise.all(signers.map((signer) => signedBy(kind, unsigned, signer)))
  const texts = answers.map((answer) => JSON.stringify(answer))
  const claims = answers.flatMap((answer) =>
    kind
      .signatureArrays(answer, context)
      .flatMap((array) =>
        array.claims.map(({ domain, signature }) => ({ digest: array.digestOf(domain), signature })),
      ),
  )
  const request = unsigned.message.data
  const mergeUs: number[] = []
  const bareUs: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const merging = await timed(async () => {
      for (let count = 0; count < merges; count++) merge(kind, texts, signers, request)
    })
    const recovering = await timed(async () => {
      for (let count = 0; count < merges; count++) {
        for (const { digest, signature } of claims) {
          if (digest === undefined || recoverSigner(digest, signature) === undefined)
            throw new Error('not proven')
        }
      }
    })
    if (round > 0) {
      mergeUs.push(merging / merges)
      bareUs.push(recovering / merges)
    }
  }
  return { mergedUs: median(mergeUs), bareUs: median(bareUs), recoveries: claims.length }
}

/** From the bytes of the answers to the merged one: all that an oracle does with them. */
function merge(
  kind: AttestationKind<FillsResponse>,
  texts: readonly string[],
  signers: readonly Signer[],
  request: Readonly<Record<string, unknown>>,
): void {
  const aggregation = createAggregation({
    kind,
    context,
    recover: recoverSigner,
    policy: { signers: new Set<Hex>(signers.map(({ address }) => address)), threshold: signers.length },
    ownSigner: `0x${'33'.repeat(20)}`,
    request,
  })
  for (const [index, text] of texts.entries()) {
    aggregation.addRead(aggregation.read(text), `peer-${index}`)
  }
  if (aggregation.conclude()?.matched !== signers.length) throw new Error('not every peer was merged')
}

async function signedBy(
  kind: AttestationKind<FillsResponse>,
  unsigned: FillsResponse,
  signer: Signer,
): Promise<FillsResponse> {
  const claims = new Map<
    string,
    { signer: Hex; signature: Hex; domain?: { chainId: string; contract: Hex } }
  >()
  for (const { path, ownDomain, requestOf } of kind.signatureArrays(unsigned, context)) {
    const request = requestOf(ownDomain)
    if (request === undefined) throw new Error(`${path} cannot be signed`)
    const signature = await signer.sign(request)
    claims.set(path, {
      signer: signer.address,
      signature,
      ...(ownDomain !== undefined && { domain: ownDomain }),
    })
  }
  return kind.withSignatures(unsigned, (path) => {
    const claim = claims.get(path)
    return claim === undefined ? [] : [claim]
  })
}

function wordOf(value: number): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

/** Microseconds on the processor: nothing here waits, and neighbours on the machine are left out. */
async function timed(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
