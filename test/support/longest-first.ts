/** The order of a run: what takes longest begins first, so that nothing long is left at the end. */
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { costOf } from './costs.ts'

const ROOT = join(import.meta.dirname, '../..')
const clockOf = ({ moduleId }: TestSpecification): number => costOf(relative(ROOT, moduleId)).clock

/** Project by project, as Vitest does, by what `npm run seconds` has measured. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = await super.sort(files)
    const nameOf = ({ project }: TestSpecification): string => project.name
    const names = [...new Set(byProject.map(nameOf))]
    return names.flatMap((name) =>
      byProject
        .filter((one) => nameOf(one) === name)
        .toSorted((one, other) => clockOf(other) - clockOf(one)),
    )
  }
}
