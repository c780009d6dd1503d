//! Laplacian eigenmaps: neighbors attract each other with a heat-kernel weight.
//!
//! The precision of the field is the graph Laplacian, and the eigenproblem is normalized by the degrees:
//!
//! ```text
//! w[i,j] = exp(−‖x[i] − x[j]‖² / (σ[i]² + σ[j]²))    i, j neighbors either way; the widths σ of `heat.rs`
//! L = D − W,   D = diag(Σⱼ w[i,j])       L y = λ D y
//! ```
//!
//! The unnormalized variant solves L y = λ y (Lawrence 2012, section 2.6.2: the constraint yᵀy instead of yᵀDy). The
//! symmetric variant solves D^(−½) L D^(−½) u = λ u, whose u = D^½ y are not scaled back: the rows of spectral clustering
//! before they are normalized, and the maps of Lawrence's experiments.
//!
//! M. Belkin, P. Niyogi. Laplacian eigenmaps for dimensionality reduction and data representation. Neural Computation
//! 15(6), 2003, section 2. (Their t is our 2σ².) A. Y. Ng, M. I. Jordan, Y. Weiss. On spectral clustering. NIPS 14, 2001.

use crate::extend::{Form, Nystrom, Rule};
use crate::field::laplacian::affinity::{Affinity, Mutual, description};
use crate::field::unfolding::mvu::Mvu;
use crate::field::unfolding::{Constraints, Pairs};
use crate::field::{Basis, Build, Built, CoordinateScale, Field, Info, InputKind, Site, Task};
use crate::kernel::heat::Bandwidth;
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::sparse::locality::{LARGE, breadth_first, positions};
use serde::{Deserialize, Serialize};

/// The weight of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeWeight {
    /// exp(−d² / 2σ²).
    #[default]
    Heat,
    /// 1.
    Simple,
    /// The weights that bound the variance of every unfolding most tightly: the optimum of the dual of maximum variance
    /// unfolding.
    Dual,
}

/// Which eigenproblem the coordinates solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LaplacianVariant {
    /// L y = λ D y, also known as the random walk's: yᵀDy is fixed.
    #[default]
    Normalized,
    /// D^(−½) L D^(−½) u = λ u with u = D^½ y: uᵀu is fixed, and a point with small weights is close to the origin.
    Symmetric,
    /// L y = λ y: yᵀy is fixed.
    Unnormalized,
}

/// Laplacian eigenmaps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaplacianEigenmaps {
    /// The weight of an edge.
    pub kernel: EdgeWeight,
    /// σ of the heat kernel.
    pub bandwidth: Bandwidth,
    /// Which eigenproblem the coordinates solve.
    pub variant: LaplacianVariant,
    /// How an edge counts that is in the lists of both its ends.
    pub mutual: Mutual,
}

choices! {
    EdgeWeight {
        Heat: "heat" or "gaussian", "exp(-d^2 / 2 sigma^2)";
        Simple: "simple", "1";
        Dual: "dual", "the optimal dual weights of mvu";
    }
}

choices! {
    LaplacianVariant {
        Normalized: "normalized" or "random-walk", "by y'Dy";
        Symmetric: "symmetric", "by u'u with u = sqrt(D) y";
        Unnormalized: "unnormalized", "by y'y";
    }
}

choices! {
    Mutual {
        Once: "once", "as any other edge";
        Twice: "twice", "twice that weight";
    }
}

impl Table for LaplacianEigenmaps {
    const METHOD: &'static str = "laplacian-eigenmaps";
    const TABLE: &'static [Parameter<LaplacianEigenmaps>] = &[
        Parameter::new("kernel", "the weight of an edge", Kind::Choice(EdgeWeight::NAMES), field!(kernel)),
        Parameter::new("bandwidth", "sigma of the heat kernel", Kind::positive(), field!(bandwidth))
            .auto(Bandwidth::AUTO)
            .or(Bandwidth::WORDS)
            .with("kernel", &["heat"]),
        Parameter::new(
            "variant",
            "how eigenvectors are normalized",
            Kind::Choice(LaplacianVariant::NAMES),
            field!(variant),
        ),
        Parameter::new(
            "mutual",
            "the weight of an edge between mutual neighbors",
            Kind::Choice(Mutual::NAMES),
            field!(mutual),
        )
        .with("kernel", &["heat", "simple"]),
    ];
}

impl Build for LaplacianEigenmaps {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["le", "la", "spectral", "spectral-embedding", "laplacian-eigenmap"],
            summary: "spectral embedding of the neighborhood graph by its Laplacian",
            title: "Laplacian eigenmaps",
            good_for: "groups, and the order along a strip, for very many points",
            caution: "Lengths and areas have no meaning: edges are compressed, and a long strip hides its width.",
            basis: Basis::Precision,
            paper: "Belkin & Niyogi 2003",
            accepts: InputKind::ALL,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn has_weights(&self) -> bool {
        self.kernel == EdgeWeight::Dual
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let graph = site.graph()?;
        let widths = match self.kernel {
            EdgeWeight::Heat => Some(self.bandwidth.widths(graph)?),
            EdgeWeight::Simple => None,
            EdgeWeight::Dual => return self.with_dual_weights(site),
        };
        let weight = |i, j, length| widths.as_ref().map_or(1.0, |widths| widths.weight(i, j, length));
        // Of many points, neighbors are put close in memory.
        let order = (graph.len() >= LARGE).then(|| breadth_first(graph.len(), |i| graph.neighbors(i)));
        let affinity = match &order {
            Some(order) => Affinity::in_order(graph, order, self.mutual, weight),
            None => Affinity::counting(graph, self.mutual, weight),
        };
        // A new point has only its own neighbor list; this is how much the lists of the other points add.
        let of_list = |i: usize| graph.edges(i).map(|(j, length)| weight(i, j, length)).sum::<f64>();
        let own = || (0..graph.len()).map(of_list).sum::<f64>();
        let added = || affinity.degrees().iter().sum::<f64>() / own();
        let degrees = || {
            let rows = order.as_deref().map(positions);
            let row = |i: usize| rows.as_ref().map_or(i, |rows| rows[i] as usize);
            (0..graph.len()).map(|i| affinity.degrees()[row(i)]).collect::<Vec<f64>>()
        };
        let (normalization, scale, form) = match self.variant {
            LaplacianVariant::Normalized => (Some(degrees()), CoordinateScale::Unit, Form::Normalized),
            LaplacianVariant::Symmetric => {
                (Some(degrees()), CoordinateScale::Symmetric, Form::Symmetric { degrees: degrees(), added: added() })
            }
            LaplacianVariant::Unnormalized => (None, CoordinateScale::Unit, Form::Unnormalized { added: added() }),
        };
        let matrix = affinity.laplacian_in_order(order.as_deref())?;
        let field = Field::Precision { matrix, order, normalization, scale };
        let used = vec![("bandwidth", description(widths.as_ref()))];
        let rule = Rule::Nystrom(Nystrom { widths, density: None, form });
        Ok(Built { used, ..Built::new(field, rule) })
    }
}

impl LaplacianEigenmaps {
    /// The optimal weights of the dual problem of maximum variance unfolding; with them the unnormalized map spans the
    /// same space as the unfolding (Xiao, Sun & Boyd 2006, section 6.1). New points are embedded by their neighbors, as
    /// in the unfolding.
    fn with_dual_weights(&self, site: &Site<'_>) -> Result<Built> {
        if self.bandwidth != Bandwidth::Auto || self.mutual == Mutual::Twice {
            return Err(Error::inapplicable(
                "bandwidth",
                "`bandwidth` and `mutual` do not apply to `kernel` dual",
                "leave them out",
            ));
        }
        let unfolding = Mvu { constraints: Some(Constraints::Edges), ..Mvu::default() };
        let unfolded = unfolding.build(site).map_err(|error| match error {
            error if error.is_parameter() => Error::parameter(
                "kernel",
                format!("`kernel` dual solves an unfolding, which was refused ({error})"),
                "use `kernel` heat",
            ),
            error => error,
        })?;
        let graph = site.graph()?;
        let pairs = Pairs::new(graph, Constraints::Edges, None)?;
        let first = |i: u32| pairs.first[pairs.of[i as usize] as usize];
        let affinity = Affinity::of_weights(graph, unfolded.weights.as_deref().unwrap_or_default(), first);
        let (normalization, scale) = match self.variant {
            LaplacianVariant::Normalized => (Some(affinity.degrees().to_vec()), CoordinateScale::Unit),
            LaplacianVariant::Symmetric => (Some(affinity.degrees().to_vec()), CoordinateScale::Symmetric),
            LaplacianVariant::Unnormalized => (None, CoordinateScale::Unit),
        };
        let field = Field::Precision { matrix: affinity.laplacian()?, order: None, normalization, scale };
        Ok(Built { task: Task::Spectral(field), used: vec![("bandwidth", description(None))], ..unfolded })
    }
}
