import { z } from 'zod'
import type { Check, Finding, RepositoryFile } from './finding.ts'

const changelog = 'CHANGELOG.md'
/** `## Unreleased`, or `## 1.2.3, 2026-01-31`. */
const releaseHeading = /^## (?:(Unreleased)|(\d+)\.(\d+)\.(\d+), (\d{4}-\d\d-\d\d))$/
const upgradeNote = '### Upgrade note'
const manifestSchema = z.object({ version: z.string() })

type Release = { readonly version: string; readonly order: readonly number[]; readonly date: string }

/**
 * The changelog has releases, newest first, each with its upgrade note before all else, and the newest is the version of
 * `package.json`. What is not released yet stands above them.
 * @source CONTRIBUTING.md, A release
 */
export const releasesCheck: Check = { name: 'releases', find: findBrokenReleases }

function findBrokenReleases(files: readonly RepositoryFile[]): readonly Finding[] {
  const text = files.find(({ path }) => path === changelog)?.text
  const manifest = files.find(({ path }) => path === 'package.json')?.text
  if (text === undefined || manifest === undefined) return []
  const { version } = manifestSchema.parse(JSON.parse(manifest))
  const lines = text.split('\n')
  const problems: string[] = []
  const releases: Release[] = []
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('## ')) continue
    const heading = releaseHeading.exec(line)
    if (heading === null) {
      problems.push(`"${line}" is neither "## Unreleased" nor "## X.Y.Z, YYYY-MM-DD"`)
      continue
    }
    const [, unreleased, major, minor, patch, date = ''] = heading
    if (unreleased !== undefined) {
      if (releases.length > 0) problems.push('"## Unreleased" stands below a release')
      continue
    }
    const release = {
      version: `${major}.${minor}.${patch}`,
      order: [Number(major), Number(minor), Number(patch)],
      date,
    }
    const above = releases.at(-1)
    if (above !== undefined && !isOlder(release, above))
      problems.push(`${release.version} stands below ${above.version} and is not older`)
    if (lines.slice(index + 1).find((next) => next !== '') !== upgradeNote)
      problems.push(`${release.version} does not begin with "${upgradeNote}"`)
    releases.push(release)
  }
  const newest = releases[0]?.version
  if (newest !== version)
    problems.push(`the newest release is ${newest ?? 'missing'}, package.json is ${version}`)
  return problems.map((problem) => ({ file: changelog, problem }))
}

function isOlder(one: Release, other: Release): boolean {
  if (one.date > other.date) return false
  const place = one.order.findIndex((part, index) => part !== other.order[index])
  return place !== -1 && (one.order[place] ?? 0) < (other.order[place] ?? 0)
}
