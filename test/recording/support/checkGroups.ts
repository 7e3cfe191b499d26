// One test per group of requests: what is asked is compared with the recording, or written to it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { isRecording, layOut, readAnswers, writeAnswers } from './answerFiles.ts'
import type { Exchange, Session } from './session.ts'

/** A file of the recording, and what is asked for it. */
export type Group<Stage> = readonly [
  file: string,
  sessionOf: (stage: Stage) => Session,
  record: (stage: Stage) => Promise<void>,
]

/** A file of the recording, and what it holds beside requests. */
export type Surface<Stage> = readonly [file: string, read: (stage: Stage) => Promise<readonly object[]>]

const startMs = 300_000

/**
 * Declares the tests. Groups run in this order: what moves chains comes after what is priced.
 * @param described the session whose interface description lists the routes that must all be asked
 * @param problemsOf all answers: what is wrong with them beside
 */
export function checkGroups<Stage extends { readonly world: { stop(): Promise<void> } }>(
  open: () => Promise<Stage>,
  groups: readonly Group<Stage>[],
  described: (stage: Stage) => Session,
  surfaces: readonly Surface<Stage>[],
  problemsOf: (asked: readonly Exchange[]) => readonly string[] = () => [],
): void {
  let opened: Stage | undefined
  const asked: Exchange[] = []
  const stageNow = (): Stage => {
    if (opened === undefined) throw new Error('the services did not start')
    return opened
  }

  beforeAll(async () => {
    opened = await open()
  }, startMs)
  afterAll(() => opened?.world.stop())

  test.each(groups)('%s answers what is recorded', async (file, sessionOf, record) => {
    const stage = stageNow()
    await record(stage)
    const exchanges = sessionOf(stage).take()
    asked.push(...exchanges)
    await compare(
      file,
      exchanges.map(({ kept }) => kept),
      exchanges.map(({ name, method, path }) => `${method} ${path}, ${name}`),
    )
  })

  test.each(surfaces)('%s is what is recorded', async (file, read) => {
    const entries = await read(stageNow())
    const titles = entries.map((entry) => `${file}: ${JSON.stringify(entry).slice(0, 100)}`)
    await compare(file, entries, titles)
  })

  test('every route that is described was asked', async () => {
    const { body } = await described(stageNow()).prepare({ name: 'description', path: '/documentation/json' })
    const routes = Object.entries(descriptionSchema.parse(body).paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
    )
    expect(routes.length).toBeGreaterThan(10)
    const isAsked = (route: { method: string; path: string }) =>
      asked.some(({ method, path }) => method === route.method && patternOf(route.path).test(path))
    expect(routes.filter((route) => !isAsked(route))).toEqual([])
  })

  test('every refusal is one that the description tells of its route', async () => {
    const { body } = await described(stageNow()).prepare({ name: 'description', path: '/documentation/json' })
    const { paths, components } = descriptionSchema.parse(body)
    const untold = asked.flatMap(({ method, path, status, body: answer }) => {
      const told = Object.entries(paths).find(([pattern]) => patternOf(pattern).test(path))?.[1][
        method.toLowerCase()
      ]
      const refusal = refusalSchema.safeParse(answer)
      // The description has no refusals that precede routing: for a URL, headers, another method.
      if (told === undefined || !refusal.success || status === 431) return []
      const { $ref, description } = told.responses[status] ?? {}
      const shared = $ref === undefined ? undefined : components.responses[$ref.replace(/.*\//, '')]
      const codes = (shared ?? { description }).description?.split(', ') ?? []
      const { errorCode } = refusal.data
      return codes.includes(errorCode) ? [] : [`${method} ${path}: ${status} ${errorCode}`]
    })
    expect([...new Set(untold)]).toEqual([])
  })

  test('answers are what public clients take them for', () => {
    expect(asked.length).toBeGreaterThan(50)
    expect(problemsOf(asked)).toEqual([])
  }, 120_000)
}

const toldSchema = z.object({ $ref: z.string().optional(), description: z.string().optional() })
const descriptionSchema = z.object({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.object({ responses: z.record(z.string(), toldSchema) })),
  ),
  components: z.object({ responses: z.record(z.string(), toldSchema) }),
})
const refusalSchema = z.object({ errorCode: z.string(), statusCode: z.number() })

const patternOf = (path: string) => new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`)

/** Compares entries with a file of the recording, one assertion each, or writes the file. */
export async function compare(
  file: string,
  entries: readonly unknown[],
  titles: readonly string[],
): Promise<void> {
  if (isRecording) return writeAnswers(file, entries)
  const expected = await readAnswers(file)
  for (const [index, entry] of entries.entries()) {
    expect.soft(layOut(entry), titles[index]).toBe(expected[index])
  }
  expect(entries, `${file}: number of entries`).toHaveLength(expected.length)
}
