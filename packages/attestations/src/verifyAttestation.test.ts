// Goal: a signer counts once, for the whole of a response, in the domains of our hub. Attack: signatures of another part,
// hub, payload or signer, and many that are none. Method: signatures that say which digest and signer they are of.
import { bytesToHex, type Hex, type RecoverSigner } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { networkOf, repeated } from '../../core/test/vectors/orders.ts'
import { sampleContext, sampleResponses } from '../test/vectors/responses.ts'
import { attestationKinds } from './responses/kinds.ts'
import type { SignatureArray } from './responses/signatureArrays.ts'
import type { SignatureClaim, SignatureDomain } from './responses/signatureEntries.ts'
import { verifyAttestation } from './verifyAttestation.ts'
import { verifyRows } from './verifyRows.ts'

const kind = attestationKinds.deposits
const [alice, bob, eve] = [repeated('aa', 20), repeated('bb', 20), repeated('ee', 20)]
const response = kind.responseSchema.parse(sampleResponses.deposits)
const arrays = kind.signatureArrays(response, sampleContext)
const arrayAt = (path: string): SignatureArray => {
  const found = arrays.find((array) => array.path === path)
  if (found === undefined) throw new Error(path)
  return found
}

const recover: RecoverSigner = (digest, signature) => {
  const [of, signer] = signature.split(' ')
  return of === bytesToHex(digest) ? `0x${(signer ?? '').slice(2)}` : undefined
}
function claimAt(path: string, signer: Hex, domain = arrayAt(path).ownDomain, as = signer): SignatureClaim {
  const digest = arrayAt(path).digestOf(domain)
  const signature = `${digest === undefined ? '0x' : bytesToHex(digest)} ${as}`
  return { signer, signature, ...(domain !== undefined && { domain }) }
}
const [messagePath, executionPath] = ['messages.0.signatures', 'execution.signatures']
const signedBy = (claims: (path: string) => readonly SignatureClaim[]) =>
  kind.withSignatures(response, claims)
const byAll = (...signers: readonly Hex[]) =>
  signedBy((path) => signers.map((signer) => claimAt(path, signer)))

const options = {
  kind,
  signers: [alice, bob.toUpperCase().replace('0X', '0x')],
  hub: sampleContext.hub,
  networkOf,
  recover,
}
const verify = (answer: unknown, threshold = 2) => verifyAttestation(answer, { ...options, threshold })

describe('P-131: a response', () => {
  test('is a quorum where enough listed signers signed all of it', () => {
    const all = {
      isQuorum: true,
      signers: [alice, bob],
      matched: 2,
      required: 2,
      isExecutionHeld: false,
      problems: [],
    }
    expect(verify(byAll(bob, alice))).toEqual(all)
    expect(verify(byAll(bob, alice), 3)).toMatchObject({ isQuorum: false, matched: 2, required: 3 })
    expect(verify(byAll(alice, alice), 1)).toMatchObject({ isQuorum: true, matched: 1 })
    expect(verify(byAll(), 1)).toMatchObject({ isQuorum: false, matched: 0, problems: [] })
  })

  test('says who declared a signature and did not prove it', () => {
    const messageAlone = signedBy((path) =>
      path === messagePath ? [claimAt(path, alice)] : [claimAt(path, bob)],
    )
    expect(verify(messageAlone)).toMatchObject({
      matched: 0,
      problems: [
        { reason: 'not_proven', signer: alice },
        { reason: 'not_proven', signer: bob },
      ],
    })
    expect(verify(byAll(eve))).toMatchObject({
      matched: 0,
      problems: [{ reason: 'unlisted_signer', signer: eve }],
    })
    const lie = signedBy((path) => [claimAt(path, alice, arrayAt(path).ownDomain, eve)])
    expect(verify(lie)).toMatchObject({ matched: 0, problems: [{ reason: 'not_proven', signer: alice }] })
  })

  test('counts no signature for another hub', () => {
    for (const change of [{ chainId: '1' }, { contract: repeated('dd', 20) }]) {
      const own = arrayAt(executionPath).ownDomain
      if (own === undefined) throw new Error('an execution has a domain')
      const elsewhere = signedBy((path) =>
        path === messagePath ? [claimAt(path, alice)] : [claimAt(path, alice, { ...own, ...change })],
      )
      expect(verify(elsewhere, 1)).toMatchObject({
        matched: 0,
        problems: [{ reason: 'not_proven', signer: alice }],
      })
    }
  })

  test('that is none, or has nothing to sign, says so', () => {
    expect(verify({ messages: [{ data: 1 }] })).toMatchObject({
      isQuorum: false,
      problems: [{ reason: 'schema', detail: expect.stringMatching(/^messages\.0/) }],
    })
    expect(verify(7).problems).toEqual([{ reason: 'schema', detail: '' }])
    expect(verify({ messages: [] })).toMatchObject({
      problems: [{ reason: 'nothing_to_sign' }],
      isExecutionHeld: false,
    })
    const heldInitiation = { withdrawalAddress: alice, executionHeld: 'SIGNING_CAP' }
    const initiation = { ...options, kind: attestationKinds['withdrawal-initiation'], threshold: 1 }
    expect(verifyAttestation(heldInitiation, initiation)).toMatchObject({
      problems: [{ reason: 'nothing_to_sign' }],
      isExecutionHeld: true,
    })
  })

  test('whose execution is held is signed by its message alone', () => {
    expect(verify(kind.withoutExecution(byAll(alice, bob)))).toMatchObject({
      isQuorum: true,
      isExecutionHeld: true,
    })
  })

  test('has a threshold that is a number of signers', () => {
    for (const threshold of [0, -1, 1.5, Number.NaN])
      expect(() => verify(byAll(alice), threshold)).toThrow(RangeError)
    expect(verify(byAll(alice), 1).isQuorum).toBe(true)
  })
})

describe('the rows of signers', () => {
  const wanted = { isWanted: () => true, recover }
  const withClaims = (claims: (path: string) => readonly SignatureClaim[]) =>
    kind.signatureArrays(signedBy(claims), sampleContext)
  const own = arrayAt(executionPath).ownDomain
  const domainOf = (chainId: string): SignatureDomain => ({ chainId, contract: own?.contract ?? '0x' })

  test('are one per signer and domain', () => {
    const rows = verifyRows(
      withClaims((path) =>
        path === messagePath
          ? [claimAt(path, alice), claimAt(path, alice)]
          : [
              claimAt(path, alice, domainOf('1')),
              claimAt(path, alice, domainOf('2')),
              claimAt(path, alice, domainOf('1')),
            ],
      ),
      wanted,
    )
    const contract = own?.contract
    expect(rows.map(({ signer, domains }) => [signer, ...domains])).toEqual([
      [alice, '', `1:${contract}`],
      [alice, '', `2:${contract}`],
    ])
    expect(rows[1]?.claims.map(({ domain }) => domain?.chainId)).toEqual([undefined, '2'])
    expect(verifyRows([], wanted)).toEqual([])
  })

  test('cost sixteen recoveries per signer and array at most, and none for the unwanted', () => {
    const bad = (count: number, path: string) =>
      Array.from({ length: count }, (_, index) => ({
        signer: alice,
        signature: `bad ${index}`,
        domain: arrayAt(path).ownDomain,
      })).map(({ domain, ...claim }) => ({ ...claim, ...(domain !== undefined && { domain }) }))
    const after = (count: number) =>
      verifyRows(
        withClaims((path) => [...bad(count, path), ...bad(count, path), claimAt(path, alice)]),
        wanted,
      )
    expect([after(15).length, after(16).length]).toEqual([1, 0])
    let recoveries = 0
    const counting: RecoverSigner = (digest, signature) => {
      recoveries += 1
      return recover(digest, signature)
    }
    const two = withClaims((path) => [claimAt(path, alice), claimAt(path, eve)])
    const rows = verifyRows(two, { isWanted: (signer) => signer === alice, recover: counting })
    expect([rows.length, recoveries]).toEqual([1, 2])
    const lacking = withClaims((path) => (path === messagePath ? [claimAt(path, alice)] : []))
    expect(verifyRows(lacking, { isWanted: () => true, recover: counting })).toEqual([])
    expect(recoveries).toBe(2)
  })
})
