// Goal: a peer whose certificate ended is named so, and is not one that "does not answer": its operator must be told what
// to renew. Method: peers behind TLS with certificates of an authority that the process trusts, which end in the past, and
// the doctor as it is typed.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { spawnOracle } from './support/oracleProcess.ts'

const servers: Server[] = []
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-certificates-'))
})
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  await rm(directory, { recursive: true, force: true })
})

/** One element of DER (ITU-T X.690). */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  const { length } = body
  const lengths = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...lengths]), body])
}

const commonName = Buffer.from([0x55, 0x04, 0x03])
const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
const nameOf = (text: string) =>
  der(0x30, der(0x31, der(0x30, der(0x06, commonName), der(0x0c, Buffer.from(text)))))

type Party = { readonly name: string; readonly privateKey: KeyObject; readonly publicKey: KeyObject }
const party = (name: string): Party => ({ name, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) })

/** A certificate without extensions, as PEM. @param end as `YYMMDD` */
function certificate(subject: Party, issuer: Party, end: string): string {
  const signed = der(
    0x30,
    der(0x02, Buffer.from([servers.length + 1])),
    ecdsaWithSha256,
    nameOf(issuer.name),
    der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from(`${end}000000Z`))),
    nameOf(subject.name),
    subject.publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = sign('sha256', signed, issuer.privateKey)
  const whole = der(0x30, signed, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  return `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

/** @returns `host:port` */
async function listen(own: Party, cert: string): Promise<string> {
  const key = own.privateKey.export({ type: 'pkcs8', format: 'pem' })
  const server = createServer({ key, cert }, (_request, response) => response.end('{}'))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

const reportSchema = z.object({
  findings: z.array(z.object({ code: z.string(), setting: z.string(), seen: z.string(), fix: z.string() })),
})

test('O-95: the doctor names a certificate that has expired, and one that nobody vouches for', async () => {
  const [authority, first, second] = [party('authority'), party('first'), party('second')]
  const trusted = join(directory, 'authority.pem')
  await writeFile(trusted, certificate(authority, authority, '490101'))
  const expired = await listen(first, certificate(first, authority, '210101'))
  const own = await listen(second, certificate(second, second, '490101'))
  const doctor = spawnOracle(
    {
      ENVIRONMENT: 'testnets.prod',
      ECDSA_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
      RELAY_TESTNET_RPC_URL: 'http://127.0.0.1:9',
      NODE_EXTRA_CA_CERTS: trusted,
      PEERS: `https://${expired}|a-key-of-the-first;https://${own}|a-key-of-the-second`,
    },
    ['doctor', '--json'],
  )
  await doctor.ended
  const { findings } = reportSchema.parse(JSON.parse(doctor.output()))
  expect(findings.filter(({ code }) => code === 'peer-silent')).toMatchObject([
    { setting: 'PEERS entry 1', seen: `${expired} shows an expired certificate (CERT_HAS_EXPIRED)` },
    {
      setting: 'PEERS entry 2',
      seen: `${own} shows a certificate that nobody vouches for (DEPTH_ZERO_SELF_SIGNED_CERT)`,
    },
  ])
  expect(findings.find(({ setting }) => setting === 'PEERS entry 1')?.fix).toContain('renew')
})
