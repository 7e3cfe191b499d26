// Goal: whoever upgrades with files of his own that are as an earlier release shipped them is told each member to change,
// with what to write, and starts once it is written. Attacks: a member that is refused without a word, a release that
// reads its predecessor's file otherwise, a note that names less than a start asks for. Method: the files of each release
// as it shipped them, and the doctors of today.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Finding, stopsStart } from '@causeway/core/config'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { examineOwnOracle } from '../../apps/oracle/src/compose/examine.ts'
import { examineQuoteApi } from '../../apps/quote-api/src/compose/examine.ts'
import { examineSolver } from '../../apps/solver/src/compose/examine.ts'

const repositoryRoot = join(import.meta.dirname, '../..')
const folder = join(import.meta.dirname, 'configs')
const releases = (await readdir(folder)).map((name) => name.replace(/\.json$/, ''))
const environments = ['mainnets.prod', 'testnets.prod'] as const
type Environment = (typeof environments)[number]

/** Members that an upgrade changes; the others stay. */
const fileSchema = z.looseObject({
  chains: z
    .union([
      z.array(z.looseObject({ id: z.string(), signingCaps: z.unknown().optional() })),
      z.record(
        z.string(),
        z.looseObject({
          feeModel: z.looseObject({ kind: z.string() }).optional(),
          pinPolicy: z.array(z.looseObject({ confirmations: z.number().optional() })).optional(),
        }),
      ),
    ])
    .optional(),
})
const filesSchema = z.record(z.string(), fileSchema)
type Files = z.infer<typeof filesSchema>

const key = (digits: string) => `0x${digits.repeat(32)}`
const endpoint = 'https://rpc.example/key'
const caps = `0x${'0'.repeat(40)}=1`
const endpoints: Readonly<Record<Environment, Readonly<Record<string, string>>>> = {
  'mainnets.prod': { BASE_RPC_URL: endpoint, RELAY_RPC_URL: endpoint, BASE_SIGNING_CAPS: caps },
  'testnets.prod': {
    BASE_SEPOLIA_RPC_URL: endpoint,
    RELAY_TESTNET_RPC_URL: endpoint,
    BASE_SEPOLIA_SIGNING_CAPS: caps,
  },
}

/** Complete settings of each service beside the files. */
const services = {
  'quote-api': {
    examine: examineQuoteApi,
    settings: {
      ECDSA_PRIVATE_KEY: key('5a'),
      API_KEY_PEPPERS: `v1:${'9e'.repeat(32)}`,
      ADMIN_API_KEY: 'admin-key-of-these-tests',
      SOLVER_API_KEY: 'solver-key-of-these-tests',
      FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
      PUBLIC_URL: 'https://api.example',
      DATABASE_URL: 'postgres://causeway:secret@127.0.0.1:9/causeway',
      MAINNETS_BASE_URL: 'https://api.example',
      TESTNETS_BASE_URL: 'https://api.testnets.example',
    },
  },
  oracle: {
    examine: examineOwnOracle,
    settings: { ECDSA_PRIVATE_KEY: key('5b'), STATE_DIR: join(tmpdir(), 'causeway-earlier-state') },
  },
  solver: {
    examine: examineSolver,
    settings: {
      ECDSA_PRIVATE_KEY: key('5c'),
      ORDER_SIGNERS: `0x${'5e'.repeat(20)}`,
      QUOTE_API_URL: 'http://127.0.0.1:9',
      SOLVER_API_KEY: 'solver-key-of-these-tests',
      DATABASE_URL: 'postgres://causeway:secret@127.0.0.1:9/causeway',
      MAINNETS_BASE_URL: 'https://api.example',
      TESTNETS_BASE_URL: 'https://api.testnets.example',
    },
  },
} as const

const filesOf = async (release: string): Promise<Files> =>
  filesSchema.parse(JSON.parse(await readFile(join(folder, `${release}.json`), 'utf8')))

/** Findings that stop the services that use these files. */
async function stopping(files: Files, environment: Environment): Promise<readonly Finding[]> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-earlier-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  for (const [name, content] of Object.entries(files))
    await writeFile(join(directory, name), JSON.stringify(content))
  const found: Finding[] = []
  for (const [name, { examine, settings }] of Object.entries(services)) {
    if (name === 'solver' && files[`solver.${environment}.json`] === undefined) continue
    const variables = {
      ENVIRONMENT: environment,
      CONFIG_DIR: directory,
      ...endpoints[environment],
      ...settings,
    }
    const scope = 'settings' as const
    found.push(...(await examine(variables, { repositoryRoot, nowMs: () => Date.now(), scope })))
  }
  return found.filter((one) => stopsStart([one]))
}

/** As the shipped files name it. */
const capsVariable = (id: string) => `$${id.toUpperCase().replaceAll('-', '_')}_SIGNING_CAPS`

/** Files after the changes that the upgrade page prescribes for an operator's own files. */
function upgraded(files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([name, { chains, ...file }]) => [
      name,
      { ...file, ...(chains && { chains: changed(chains) }) },
    ]),
  )
}

function changed(chains: NonNullable<Files[string]['chains']>): NonNullable<Files[string]['chains']> {
  if (Array.isArray(chains))
    return chains.map((chain) => ({ ...chain, signingCaps: chain.signingCaps ?? capsVariable(chain.id) }))
  return Object.fromEntries(
    Object.entries(chains).map(([key, chain]) => {
      const { pinPolicy, feeModel } = chain
      if (pinPolicy === undefined || feeModel?.kind === 'feerate') return [key, chain]
      const rows = pinPolicy.map(({ confirmations, ...row }) =>
        confirmations === undefined ? row : { ...row, blocks: Math.max(0, confirmations - 1) },
      )
      return [key, { ...chain, pinPolicy: rows }]
    }),
  )
}

const written = /`confirmations` is no longer read here: write `"blocks": \d+`|signingCaps|_SIGNING_CAPS/

test.each(releases.flatMap((release) => environments.map((environment) => [release, environment] as const)))(
  'files of %s for %s stop the start by what the page on upgrades says to write, and start once it is written',
  async (release, environment) => {
    const files = await filesOf(release)
    const found = await stopping(files, environment)
    expect(found.filter(({ seen }) => seen.includes('confirmations')).length).toBeGreaterThan(0)
    expect(found.filter(({ setting, seen }) => !written.test(`${setting} ${seen}`))).toEqual([])
    expect(await stopping(upgraded(files), environment)).toEqual([])
  },
)

test('the page on upgrades names each of these members', async () => {
  const page = await readFile(join(repositoryRoot, 'docs/operating/upgrade.md'), 'utf8')
  for (const member of ['confirmations', 'signingCaps', 'fillContracts', 'codeHashes'])
    expect(page).toContain(`\`${member}\``)
})
