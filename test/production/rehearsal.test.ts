// Goal: an operator with endpoints, keys and a database brings everything into production by following one page.
// Attacks: a line of the page that does nothing, a guard of production that a rehearsal lacks, a rehearsal that is
// taken for production, money that arrives nowhere; an operator who is tired and forgets one setting, or swaps two.
// Method: every command of the page, in its order, in one shell, on an empty folder, against `npm run rehearsal`; the
// chains themselves say whose money is where.
import { execFile } from 'node:child_process'
import { appendFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { hubAbi } from '@causeway/contracts'
import { type Hex, hubAlias, hubTokenId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { createDatabase } from '@causeway/database'
import { createPublicClient, createWalletClient, erc20Abi, http } from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type PageSection, sectionsOf } from './support/pageShell.ts'
import { type RehearsalBed, startRehearsalBed } from './support/rehearsalBed.ts'

const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url))
const services = [
  'oracle-1',
  'oracle-2',
  'oracle-3',
  'allocator',
  'quote-api-1',
  'quote-api-2',
  'solver',
] as const
type Service = (typeof services)[number]
/** Only ends a page that hangs. */
const patienceMs = 600_000

const reportSchema = z.object({
  startable: z.boolean(),
  findings: z.array(
    z.object({ code: z.string(), severity: z.string(), setting: z.string(), seen: z.string() }),
  ),
})
type Report = z.infer<typeof reportSchema>

let bed: RehearsalBed
let sections: readonly PageSection[]
/** Sections whose commands all did their work. */
let followed = 0

beforeAll(async () => {
  sections = await sectionsOf(join(repositoryRoot, 'docs/operating/production.md'))
  bed = await startRehearsalBed(repositoryRoot)
}, patienceMs)
afterAll(async () => {
  for (const service of services) await kill(service)
  await bed?.stop()
}, patienceMs)

function sectionOf(heading: string): PageSection {
  const section = sections.find((one) => one.heading === heading)
  if (section === undefined) throw new Error(`the page has no commands below "${heading}"`)
  return section
}

/** The commands below a heading. @returns what they printed */
async function follow(heading: string): Promise<string> {
  const section = sectionOf(heading)
  // Commands after a failed one prove nothing.
  if (sections.indexOf(section) !== followed) throw new Error(`the page was not followed up to "${heading}"`)
  const printed: string[] = []
  for (const block of section.blocks) printed.push(await bed.shell.run(block))
  followed += 1
  return printed.join('')
}

const given = (name: string): string => {
  const value = bed.given[name]
  if (value === undefined) throw new Error(`nobody gave ${name}`)
  return value
}
// CAST: what a rehearsal gives are addresses and keys.
const hex = (text: string) => text as Hex
const clientOf = (name: string) => createPublicClient({ transport: http(given(name).split(',')[0]) })

function usdcOf(chain: 'BASE' | 'OPTIMISM', holder: string): Promise<bigint> {
  return clientOf(`${chain}_RPC_URL`).readContract({
    address: hex(given(`USDC_${chain}`)),
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [hex(holder)],
  })
}

async function configured(name: string): Promise<Record<string, string>> {
  return JSON.parse(await readFile(join(given('CONFIG_DIR'), `${name}.rehearsal.json`), 'utf8'))
}

const settingsOf = (service: Service) => readFile(join(bed.deploy, service, 'env'), 'utf8')

async function settingOf(service: Service, name: string): Promise<string> {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(await settingsOf(service))?.[1] ?? ''
}

/** Report of a service's doctor after an operator changed something. */
async function doctorOf(
  service: Service,
  change: {
    readonly settings?: (text: string) => string
    readonly secrets?: (folder: string) => Promise<void>
    /** By the shell. */
    readonly exported?: Readonly<Record<string, string>>
  },
): Promise<Report> {
  const copy = join(bed.deploy, '..', 'operator', 'tired', service)
  await mkdir(copy, { recursive: true })
  const secrets = join(copy, 'secrets')
  await cp(join(bed.deploy, service, 'secrets'), secrets, { recursive: true })
  await change.secrets?.(secrets)
  const text = (await settingsOf(service)).replace(/^SECRETS_DIR=.*$/m, `SECRETS_DIR=${secrets}`)
  await writeFile(join(copy, 'env'), change.settings?.(text) ?? text)
  const script = `apps/${service.replace(/-[0-9]$/, '')}/dist/main.js`
  const stdout = await new Promise<string>((resolve) =>
    execFile(
      process.execPath,
      [`--env-file=${join(copy, 'env')}`, script, 'doctor', '--json'],
      { cwd: repositoryRoot, env: { PATH: process.env['PATH'], ...change.exported } },
      (_error, printed) => resolve(printed),
    ),
  )
  await rm(copy, { recursive: true })
  return reportSchema.parse(JSON.parse(stdout))
}

const named = ({ findings }: Report, severity: string) =>
  findings.filter((one) => one.severity === severity).map(({ code, setting }) => `${code} ${setting}`)

async function pidOf(service: Service): Promise<number | undefined> {
  const text = await readFile(join(bed.deploy, service, 'pid'), 'utf8').catch(() => '')
  return text === '' ? undefined : Number(text)
}

function runs(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Ends a service whose page ended half-way. */
async function kill(service: Service): Promise<void> {
  const pid = bed === undefined ? undefined : await pidOf(service)
  if (runs(pid) && pid !== undefined) process.kill(pid, 'SIGKILL')
}

test(
  'the page is followed to the end of its settings, with keys that nobody else may read',
  async () => {
    await follow('What you need')
    await follow('Keys')
    await follow('Settings')
    expect((await readdir(join(bed.deploy, 'keys'))).toSorted()).toEqual([
      ...['allocator', 'deployer', 'evidence', 'fill-wallet'],
      ...['oracle-2', 'oracle-3', 'order-signer'],
    ])
    const { stdout: modes } = await shellOut(`stat -c %a ${bed.deploy}/keys/* ${bed.deploy}/*/secrets/*`)
    expect(new Set(modes.trim().split('\n'))).toEqual(new Set(['400', '600']))
    for (const service of services) expect(await settingsOf(service)).not.toMatch(/=</)
  },
  patienceMs,
)

test(
  'O-98: a block that fails ends no terminal, and leaves no password in a file of its own',
  async () => {
    const [block = ''] = sectionOf('Databases').blocks
    const unreachable = 'DATABASE_ADMIN_URL=postgres://nobody:nothing@127.0.0.1:1/none\n'
    await expect(bed.shell.run(unreachable + block)).rejects.toThrow('a command of this block failed')
    await bed.shell.run(`DATABASE_ADMIN_URL='${given('DATABASE_ADMIN_URL')}'`)
    const { stdout } = await shellOut(`cd ${bed.deploy} && grep -rlFf made/quote-api-database . | sort`)
    expect(stdout.trim().split('\n')).toEqual([
      './made/quote-api-database',
      './quote-api-1/secrets/DATABASE_URL',
      './quote-api-2/secrets/DATABASE_URL',
    ])
  },
  patienceMs,
)

test(
  'contracts and databases are made, and the files agree with the chains',
  async () => {
    const printed = await follow('Contracts')
    expect(printed).not.toMatch(/other code|no code/)
    for (const setting of ['chains.base.depository', 'chains.optimism.depository', 'hub.hubAddress'])
      expect(printed).toContain(setting)
    expect(printed).toContain('Findings: 0, on base, optimism.')
    await follow('Databases')
  },
  patienceMs,
)

test(
  'everything starts in production mode, with nothing left that a doctor would mend',
  async () => {
    const printed = await follow('Start')
    expect(printed).toContain('USDC/USD')
    for (const service of services) {
      expect(runs(await pidOf(service)), service).toBe(true)
      const report = reportSchema.parse(
        JSON.parse(await readFile(join(bed.deploy, service, 'doctor'), 'utf8')),
      )
      expect([service, report.startable, named(report, 'stops'), named(report, 'degrades')]).toEqual([
        ...[service, true, [], []],
      ])
    }
  },
  patienceMs,
)

test(
  'O-128: an oracle that began without counts says so by its /ready, and stays ready',
  async () => {
    const answer = await fetch(`http://127.0.0.1:${await settingOf('oracle-1', 'OPS_PORT')}/ready`)
    expect([answer.status, await answer.json()]).toMatchObject([200, { reasons: { state: 'STATE_EMPTY' } }])
  },
  patienceMs,
)

function shellOut(command: string): Promise<{ readonly stdout: string }> {
  return new Promise((resolve, reject) =>
    execFile('bash', ['-c', command], (error, stdout) => (error ? reject(error) : resolve({ stdout }))),
  )
}

test(
  'a tired operator is told which setting he forgot, and which two he swapped',
  async () => {
    const forgotten = await doctorOf('quote-api-2', {
      secrets: (folder) => rm(join(folder, 'API_KEY_PEPPERS')),
    })
    expect([forgotten.startable, named(forgotten, 'stops')]).toEqual([
      false,
      ['setting-missing API_KEY_PEPPERS'],
    ])
    const unguarded = await doctorOf('quote-api-2', {
      secrets: (folder) => rm(join(folder, 'ADMIN_API_KEY')),
    })
    expect([unguarded.startable, named(unguarded, 'stops').join()]).toEqual([
      false,
      expect.stringContaining('ADMIN_API_KEY'),
    ])
    const uncapped = await doctorOf('oracle-2', {
      settings: (text) => text.replace(/^BASE_SIGNING_CAPS=.*$/m, ''),
    })
    expect([uncapped.startable, JSON.stringify(uncapped.findings)]).toEqual([
      false,
      expect.stringContaining('BASE_SIGNING_CAPS'),
    ])
    // The signers of the second and the third oracle.
    const swapped = await doctorOf('quote-api-1', {
      async secrets(folder) {
        const file = join(folder, 'ORACLES')
        const entries = (await readFile(file, 'utf8')).trim().replace('ORACLES=', '').split(';')
        const [first = [], second = [], third = []] = entries.map((entry) => entry.split('|'))
        const written = [first, [...second.slice(0, 2), third[2]], [...third.slice(0, 2), second[2]]]
        await writeFile(file, `ORACLES=${written.map((entry) => entry.join('|')).join(';')}\n`)
      },
    })
    expect(swapped.findings.filter(({ code }) => code === 'signer-unlisted')).toHaveLength(2)
  },
  patienceMs,
)

test(
  'O-97: an operator whose shell exports what a file names is told by doctor and command',
  async () => {
    const { startable, findings } = await doctorOf('allocator', { exported: { OPS_PORT: '4099' } })
    expect([startable, findings.filter(({ code }) => code === 'setting-overridden')]).toEqual([
      ...[true, [expect.objectContaining({ setting: 'OPS_PORT', severity: 'note' })]],
    ])
    expect(await bed.shell.run('OPS_PORT=4099 run oracle-2 halted list')).toContain(
      'OPS_PORT is another one in the environment than in',
    )
  },
  patienceMs,
)

test(
  'a rehearsal reads no chain but its own, and is taken for no other environment',
  async () => {
    const elsewhere = await doctorOf('oracle-3', {
      settings: (text) => text.replace(/^BASE_RPC_URL=.*$/m, 'BASE_RPC_URL=https://mainnet.base.example'),
    })
    expect(elsewhere.startable).toBe(false)
    expect(JSON.stringify(elsewhere.findings)).toContain(
      'endpoint 1 is not on this machine, as ENVIRONMENT=rehearsal demands',
    )
    const folder = join(bed.deploy, 'renamed')
    await mkdir(folder)
    for (const name of await readdir(given('CONFIG_DIR'))) {
      const text = await readFile(join(given('CONFIG_DIR'), name), 'utf8')
      const renamed = name.replace('.rehearsal.', '.own.prod.')
      await writeFile(join(folder, renamed), text.replaceAll('"rehearsal"', '"own.prod"'))
    }
    const renamed = await doctorOf('quote-api-1', {
      settings: (text) =>
        text
          .replace(/^ENVIRONMENT=.*$/m, 'ENVIRONMENT=own.prod')
          .replace(/^CONFIG_DIR=.*$/m, `CONFIG_DIR=${folder}`),
    })
    await rm(folder, { recursive: true })
    expect(renamed.startable).toBe(false)
    expect(JSON.stringify(renamed.findings)).toContain('belongs to a rehearsal')
  },
  patienceMs,
)

test(
  'O-98: callers behind the proxy have a limit each',
  async () => {
    const statusFor = async (caller: string) => {
      const url = `http://127.0.0.1:${bed.ports.quote}/chains`
      return (await fetch(url, { headers: { 'x-forwarded-for': caller } })).status
    }
    const busy = await Promise.all(Array.from({ length: 200 }, () => statusFor('203.0.113.1')))
    expect(busy).toContain(429)
    expect(await statusFor('203.0.113.2')).toBe(200)
  },
  patienceMs,
)

test(
  'a first sponsored transfer arrives to the unit, and its sponsor pays what was quoted',
  async () => {
    await follow('A first sponsor')
    const user = privateKeyToAddress(hex(given('USER_PRIVATE_KEY')))
    const before = await usdcOf('OPTIMISM', user)
    const printed = await follow('A first transfer')
    const { requestId } = JSON.parse(await readFile(join(bed.deploy, 'earned.json'), 'utf8'))
    const [, told = ''] = new RegExp(`request ${requestId}: ([0-9]+) micro-USDC`).exec(printed) ?? []
    expect(BigInt(told)).toBeGreaterThan(24_900_000n)
    expect((await usdcOf('OPTIMISM', user)) - before).toBe(BigInt(told))
    const answer = await fetch(`http://127.0.0.1:${bed.ports.quote}/requests/v2?id=${requestId}`, {
      headers: { 'x-api-key': (await bed.shell.run('api_key')).trim() },
    })
    const { requests } = requestsSchema.parse(await answer.json())
    const [request] = requests
    const paid = BigInt(request?.data.feeSponsorship.actual.sponsorPayment.amount ?? 0)
    expect([request?.status, paid > 0n]).toEqual(['success', true])
    expect(await sponsorBalance()).toBe(25_000_000n - paid)
  },
  patienceMs,
)

/** Micro-USDC. */
async function sponsorBalance(): Promise<bigint> {
  const balances = await fetch(
    `http://127.0.0.1:${bed.ports.quote}/app-fees/${given('SPONSOR_ADDRESS')}/balances`,
  )
  return BigInt(z.object({ amount: z.string() }).parse(await balances.json()).amount)
}

const requestsSchema = z.object({
  requests: z.array(
    z.object({
      status: z.string(),
      data: z.object({
        feeSponsorship: z.object({
          actual: z.object({ sponsorPayment: z.object({ amount: z.string() }) }),
        }),
      }),
    }),
  ),
})

test(
  'what the solver earned is paid out to its wallet, and the hub owes nothing',
  async () => {
    const wallet = await settingOf('quote-api-1', 'FILL_WALLET_ADDRESS')
    const owner = await settingOf('solver', 'ORDER_SIGNERS')
    const before = await usdcOf('BASE', wallet)
    const printed = await follow("The solver's money")
    expect(printed).toContain('burned: the hub owes nothing for it')
    expect((await usdcOf('BASE', wallet)) - before).toBe(25_000_000n)
    const base = { chainId: 'base', ...mainNetwork('ethereum-vm') }
    const { hubAddress = '' } = await configured('chains.hub')
    const owed = await clientOf('RELAY_RPC_URL').readContract({
      address: hex(hubAddress),
      abi: hubAbi,
      functionName: 'balanceOf',
      args: [hubAlias(base, owner), hubTokenId(base, given('USDC_BASE'))],
    })
    expect(owed).toBe(0n)
  },
  patienceMs,
)

test(
  'O-98: the tips that wallets take by default keep no quote back',
  async () => {
    const account = privateKeyToAccount(hex(given('USER_PRIVATE_KEY')))
    const send = async (name: string) => {
      const wallet = createWalletClient({ account, transport: http(given(name).split(',')[0]) })
      const hash = await wallet.sendTransaction({ to: account.address, value: 1n, chain: null })
      await clientOf(name).waitForTransactionReceipt({ hash, pollingInterval: 50 })
    }
    // Until both tips are the price of gas for who quotes.
    while (!(await tipsWei()).every((tip) => tip > 100_000_000n)) {
      for (const name of ['BASE_RPC_URL', 'OPTIMISM_RPC_URL']) await send(name)
      // Reads without a key are limited to ten per second.
      await setTimeout(250)
    }
    const answer = await fetch(`http://127.0.0.1:${bed.ports.quote}/quote`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        user: account.address,
        recipient: account.address,
        originChainId: 8453,
        destinationChainId: 10,
        originCurrency: given('USDC_BASE'),
        destinationCurrency: given('USDC_OPTIMISM'),
        amount: '25000000',
        tradeType: 'EXACT_INPUT',
      }),
    })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"steps"')])
  },
  patienceMs,
)

const gasSchema = z.object({
  chains: z.array(z.object({ gas: z.object({ maxPriorityFeePerGasWei: z.coerce.bigint() }).optional() })),
})

/** Tips of each chain, as quote-api read them last. */
async function tipsWei(): Promise<readonly bigint[]> {
  const answer = await fetch(`http://127.0.0.1:${bed.ports.quote}/prices/health`)
  const text = await answer.text()
  expect([answer.status, text]).toEqual([200, expect.any(String)])
  const { chains } = gasSchema.parse(JSON.parse(text))
  return chains.map(({ gas }) => gas?.maxPriorityFeePerGasWei ?? 0n)
}

/** Things that a second time must leave as they are, with the operator's own changes. */
async function whatStays() {
  const { stdout: files } = await shellOut(
    `cd ${bed.deploy} && sha256sum addresses keys/* made/* */secrets/* */env ${given('CONFIG_DIR')}/*`,
  )
  const database = createDatabase({ connectionString: given('DATABASE_ADMIN_URL') })
  const roles = await database.query('select rolname, rolpassword from pg_authid order by 1')
  await database.close()
  const listed = JSON.parse(await bed.shell.run('causeway keys list --json'))
  return {
    files,
    roles,
    pids: await Promise.all(services.map(pidOf)),
    balance: await sponsorBalance(),
    user: await usdcOf('BASE', privateKeyToAddress(hex(given('USER_PRIVATE_KEY')))),
    // Asking with a key changes when it was used.
    keys: z.object({ keys: z.array(z.object({ id: z.string() })) }).parse(listed).keys,
  }
}

test(
  'O-98: the page is followed again in a new terminal, over the running system, and changes nothing there',
  async () => {
    const peppers = join(bed.deploy, 'quote-api-1/secrets/API_KEY_PEPPERS')
    const added = (await readFile(peppers, 'utf8')).replace('=', `=v2:${'ab'.repeat(32)};`)
    for (const n of [1, 2]) await writeFile(peppers.replace('quote-api-1', `quote-api-${n}`), added)
    await appendFile(join(bed.deploy, 'oracle-3/env'), 'LOG_LEVEL=warn\n')
    const before = await whatStays()
    const terminal = await bed.openTerminal()
    const printed: string[] = []
    try {
      const end = sections.indexOf(sectionOf('Stop and start again'))
      for (const { blocks } of sections.slice(0, end))
        for (const block of blocks) printed.push(await terminal.run(block))
    } finally {
      await terminal.close()
    }
    expect(await whatStays()).toEqual(before)
    expect(printed.join('')).toContain('oracle-3 keeps its settings')
    expect(printed.join('')).toContain('quote-api-1 keeps its API_KEY_PEPPERS')
    const { stdout: left } = await shellOut(`find ${bed.deploy} -name '*.new'`)
    expect(left.trim()).toBe(join(bed.deploy, 'oracle-3/env.new'))
  },
  patienceMs,
)

type OtherPage = {
  readonly page: string
  readonly service: Service
  /** Lines that need what is not there, or are of another service. */
  readonly without: RegExp
  /** Pattern that its answers match. */
  readonly says: RegExp
}

/** Audit page, with only the line for this service. */
const auditOf = (service: Service, name: string): OtherPage => ({
  page: 'audit.md',
  service,
  without: new RegExp(`^npm run (?!${name} )`),
  says: name === 'causeway -- audit' ? /./ : /Nothing was changed|done|begun/,
})

/** Pages that ask a running system. */
const otherPages: readonly OtherPage[] = [
  { page: 'status.md', service: 'quote-api-1', without: /^$/, says: /quotes +moves/ },
  { page: 'retention.md', service: 'quote-api-1', without: /^$/, says: /./ },
  { page: 'parked.md', service: 'quote-api-1', without: / claims end /, says: /./ },
  { page: 'backup.md', service: 'quote-api-1', without: /^(mkdir|flock|pg_| {2}--)/, says: /add up/ },
  { page: 'admin-listener.md', service: 'quote-api-1', without: /^$/, says: /./ },
  { page: 'oracle.md', service: 'oracle-1', without: /^[A-Z_]+=| halted clear /, says: /./ },
  {
    page: 'allocator.md',
    service: 'allocator',
    without: /^[A-Z_]+=| held release /,
    says: /payloads that nobody/,
  },
  { page: 'runbook.md', service: 'quote-api-1', without: /^$/, says: /deposits look forged/ },
  { page: 'where-is-my-money.md', service: 'quote-api-1', without: /^$/, says: /fill/ },
  { page: 'configuration.md', service: 'quote-api-1', without: /^$/, says: /quote\.own\.prod\.json/ },
  { page: 'shadow.md', service: 'oracle-1', without: /^$/, says: /"signatures"/ },
  auditOf('quote-api-1', 'causeway -- audit'),
  auditOf('oracle-1', 'oracle -- audit'),
  auditOf('allocator', 'causeway -- allocator'),
  auditOf('solver', 'causeway -- solver'),
]

test.each(otherPages)(
  'O-98, O-129: the commands of $page are run twice against the running system, as $service',
  async ({ page, service, without, says }) => {
    const { requestId, deposit } = JSON.parse(await readFile(join(bed.deploy, 'earned.json'), 'utf8'))
    const exported = Object.fromEntries(
      Object.entries(parseEnv(await settingsOf(service))).map(([name, value = '']) => [name, value]),
    )
    if (service === 'quote-api-1')
      exported['ADMIN_API_KEY'] = (await readFile(join(bed.deploy, 'made/admin-key'), 'utf8')).trim()
    const text = await readFile(join(repositoryRoot, 'docs/operating', page), 'utf8')
    const script = [...text.matchAll(/^ *```sh\n(.*?)^ *```$/gms)]
      .flatMap(([, block = '']) => block.split('\n'))
      .filter((line) => !without.test(line))
      .join('\n')
      .replaceAll(/(explain|why) 0x…/g, `$1 ${requestId}`)
      .replaceAll('"transactionId":"0x…"', `"transactionId":"${deposit}"`)
      .replaceAll('0x…', given('SPONSOR_ADDRESS'))
      .replaceAll(':3002/', `:${bed.ports.quote + 2}/`)
      .replaceAll('localhost:3000/', `127.0.0.1:${exported['HTTP_PORT']}/`)
      .replaceAll('--out own', `--out ${join(bed.deploy, '..', 'operator', 'own')}`)
    expect(script.trim()).not.toBe('')
    const terminal = await bed.openTerminal(exported)
    try {
      for (const _time of [1, 2]) {
        // Nobody types so fast: a caller without a key has two requests a second.
        await setTimeout(1_000)
        expect(await terminal.run(script)).toMatch(says)
      }
    } finally {
      await terminal.close()
    }
  },
  patienceMs,
)

test.each(['console.md', 'service-levels.md'])(
  'O-129: the statements of %s are run twice in the database of quote-api',
  async (page) => {
    const text = await readFile(join(repositoryRoot, 'docs/operating', page), 'utf8')
    const statements = [...text.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, statement = '']) => statement)
    expect(statements).toHaveLength(1)
    const secret = await readFile(join(bed.deploy, 'quote-api-1/secrets/DATABASE_URL'), 'utf8')
    const database = createDatabase({ connectionString: secret.trim().replace('DATABASE_URL=', '') })
    try {
      for (const statement of [...statements, ...statements])
        await database.query(statement.replaceAll('0x…', given('SPONSOR_ADDRESS').toLowerCase()))
    } finally {
      await database.close()
    }
  },
  patienceMs,
)

test(
  'it stops, starts again with what it knew, and leaves nothing running',
  async () => {
    const before = await Promise.all(services.map(pidOf))
    const printed = await follow('Stop and start again')
    expect(printed).toContain('The books add up.')
    const after = await Promise.all(services.map(pidOf))
    expect(after.filter((pid) => before.includes(pid))).toEqual([])
    // A process that has ended keeps its id until the shell that started it takes note.
    await expect.poll(() => [...before, ...after].filter(runs)).toEqual([])
    expect(followed).toBe(sections.length)
    // Services that are stopped may be stopped, started and stopped again.
    for (const block of sectionOf('Stop and start again').blocks) await bed.shell.run(block)
    const last = await Promise.all(services.map(pidOf))
    await expect.poll(() => last.filter(runs)).toEqual([])
  },
  patienceMs,
)
