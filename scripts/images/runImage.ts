import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Buildah } from './buildah.ts'

const readyTimeoutMs = 60_000
const pauseMs = 250

const inspected = z.object({
  Docker: z.object({
    config: z.object({
      User: z.string(),
      Cmd: z.array(z.string()),
      Healthcheck: z.object({ Test: z.tuple([z.literal('CMD')], z.string()) }),
    }),
  }),
})

/**
 * Starts an image's own command as its own user, waits until its own health check passes, and stops it
 * by SIGTERM. @returns what was seen. @throws Error when the service does not become ready, runs as
 * root or does not end well
 */
export async function runImage(
  buildah: Buildah,
  image: string,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const { config } = inspected.parse(JSON.parse(await buildah('inspect', '--type', 'image', image))).Docker
  const container = await buildah('from', image)
  const environment = Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  const words = (command: readonly string[]) => [
    'run',
    '--isolation',
    'chroot',
    ...environment,
    container,
    '--',
    ...command,
  ]
  const service = buildah.start(...words(config.Cmd))
  const ended = once(service, 'exit')
  const stop = async () => {
    const pid = await findService(service.pid, config.Cmd)
    if (pid !== undefined) process.kill(pid, 'SIGTERM')
  }
  try {
    const startedAt = performance.now()
    const [, ...check] = config.Healthcheck.Test
    await waitUntilHealthy(() => buildah(...words(check)), ended)
    const readyMs = Math.round(performance.now() - startedAt)
    const uid = await buildah(...words(['node', '-p', 'process.getuid()']))
    if (uid === '0') throw new Error(`${image} runs as root`)
    // Counted in the container: buildah cuts long output.
    const countParts = "JSON.parse(fs.readFileSync('sbom.cdx.json', 'utf8')).components.length"
    const parts = z.coerce
      .number()
      .positive()
      .parse(await buildah(...words(['node', '-p', countParts])))
    const used = await readUse(await findService(service.pid, config.Cmd))
    await stop()
    const [code] = await ended
    if (code !== 0) throw new Error(`${image} ended with ${code} after SIGTERM`)
    return [
      `healthy after ${readyMs} ms as uid ${uid}, ${used}, ${parts} parts on its bill`,
      'ended with 0 after SIGTERM',
    ].join(', ')
  } finally {
    await stop()
    await buildah('rm', container)
  }
}

async function waitUntilHealthy(check: () => Promise<unknown>, ended: Promise<unknown>): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs
  let isRunning = true
  void ended.then(() => {
    isRunning = false
  })
  while (isRunning && performance.now() < deadline) {
    const isHealthy = await check().then(
      () => true,
      () => false,
    )
    if (isHealthy) return
    await sleep(pauseMs)
  }
  throw new Error(
    isRunning ? 'the health check did not pass in time' : 'the service ended before it was ready',
  )
}

/** The engine's own processes must live on to tell how the service ended, so only the service is asked. */
async function findService(pid: number | undefined, command: readonly string[]): Promise<number | undefined> {
  if (pid === undefined) return undefined
  const [program = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
  // The engine may have looked the program up.
  if ([basename(program), ...args].join('\0') === `${command.join('\0')}\0`) return pid
  for (const child of await childrenOf(pid)) {
    const found = await findService(child, command)
    if (found !== undefined) return found
  }
  return undefined
}

/** Resource use of a service right after its start, to compare with its limits. */
async function readUse(pid: number | undefined): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? []
  const [, threads] = /^Threads:\s+(\d+)$/m.exec(status) ?? []
  return `${Math.round(Number(kibibytes) / 1024)} MiB at most, ${threads} threads`
}

/** Children of all threads: a child belongs to the thread that started it. */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const texts = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  )
  return texts.flatMap((text) => text.split(' ').filter(Boolean).map(Number))
}
