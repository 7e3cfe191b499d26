// Prometheus itself, as Debian packages it, with our rules: what it says of them is what operators get.
import { execFile, spawn } from 'node:child_process'
import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freeLoopbackPort, waitUntil } from '@causeway/localnet'
import { z } from 'zod'

const rulesFolder = fileURLToPath(new URL('../../configs/alerts/', import.meta.url))
const run = promisify(execFile)

/** Factor by which windows, holds and scrapes are shorter than in the rules. */
export const haste = 15
const longScrapeSeconds = 15
/** Instead of two hours. Blocks are made every few seconds here, so that this is long already. */
const standingSeconds = 60

export type Alert = { readonly name: string; readonly labels: Readonly<Record<string, string>> }

export type Prometheus = {
  /** Those that fire now. */
  alerts(): Promise<readonly Alert[]>
  /** Series that an expression gives now. @throws Error where it is none */
  query(expr: string): Promise<number>
  stop(): Promise<void>
}

/** Rule files without their tests. */
export async function ruleFiles(): Promise<readonly string[]> {
  const names = await readdir(rulesFolder)
  return names.filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml')).sort()
}

/** @throws Error where the machine has no such program */
async function findProgram(name: 'prometheus' | 'promtool'): Promise<string> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name)
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  throw new Error(`${name} is not installed: apt-get install prometheus`)
}

/** @param input what it reads from its standard input. @throws Error with what it printed */
export async function promtool(words: readonly string[], input = ''): Promise<string> {
  const running = run(await findProgram('promtool'), [...words], { cwd: rulesFolder })
  running.child.stdin?.end(input)
  const { stdout, stderr } = await running
  return `${stdout}${stderr}`
}

/** The rules with all that is minutes in them a fifteenth as long. */
function hastened(text: string): string {
  const short = (minutes: number) => `${Math.max(1, Math.round((minutes * 60) / haste))}s`
  return text
    .replace(/\[(\d+)m\]/g, (_all, minutes: string) => `[${short(Number(minutes))}]`)
    .replace(/offset (\d+)m/g, (_all, minutes: string) => `offset ${short(Number(minutes))}`)
    .replace(/\[1h\]/g, `[${short(60)}]`)
    .replace(
      /^( +for: )(\d+)m$/gm,
      (_all, word: string, minutes: string) => `${word}${short(Number(minutes))}`,
    )
    .replace('job_interval_seconds + 300', `job_interval_seconds + ${300 / haste}`)
    .replace('oracle_final_block_age_seconds > 7200', `oracle_final_block_age_seconds > ${standingSeconds}`)
}

/**
 * Scrapes what is listed, each under the name of its service, and evaluates the rules.
 * @param scrapeSeconds how often, and how long a scrape may take. A service waits for its database as long here as
 * anywhere: where that is held up, a fifteenth of the usual time is none
 */
export async function startPrometheus(
  targets: readonly { readonly name: string; readonly opsUrl: string }[],
  scrapeSeconds = longScrapeSeconds / haste,
): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-prometheus-'))
  for (const name of await ruleFiles())
    await writeFile(join(folder, name), hastened(await readFile(join(rulesFolder, name), 'utf8')))
  const config = {
    global: {
      scrape_interval: `${scrapeSeconds}s`,
      scrape_timeout: `${scrapeSeconds}s`,
      evaluation_interval: `${longScrapeSeconds / haste}s`,
    },
    rule_files: await ruleFiles(),
    scrape_configs: [
      {
        job_name: 'causeway',
        static_configs: targets.map(({ name, opsUrl }) => ({
          targets: [new URL(opsUrl).host],
          labels: { instance: name },
        })),
      },
    ],
  }
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus.yaml'), JSON.stringify(config))
  const port = await freeLoopbackPort()
  const child = spawn(
    await findProgram('prometheus'),
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  const prometheus: Prometheus = {
    async alerts() {
      const answer: unknown = await (await fetch(`${url}/api/v1/alerts`)).json()
      return alertsSchema
        .parse(answer)
        .data.alerts.filter(({ state }) => state === 'firing')
        .map(({ labels: { alertname = '', ...labels } }) => ({ name: alertname, labels }))
    },
    async query(expr) {
      const answer: unknown = await (
        await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`)
      ).json()
      return querySchema.parse(answer).data.result.length
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
  await waitUntil('Prometheus has scraped every target', async () => {
    const isReady = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
    return isReady && (await prometheus.query('up == 1')) === targets.length
  })
  return prometheus
}

const alertsSchema = z.object({
  data: z.object({
    alerts: z.array(z.object({ labels: z.record(z.string(), z.string()), state: z.string() })),
  }),
})
const querySchema = z.object({
  status: z.literal('success'),
  data: z.object({ result: z.array(z.unknown()) }),
})
